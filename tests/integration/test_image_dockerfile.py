"""What container/Dockerfile promises, as far as it can be seen without building it."""

import json
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kokoro_container import hub

from ._dockerfile import ROOT, arguments, image, instructions, pairs, stages

ENGINES = ("torch", "onnx")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


def test_every_stage_begins_with_one_pinned_release_of_python() -> None:
    names = {stage.name for stage in stages()}
    bases = {stage.base for stage in stages()}
    bases = {base.replace("${ENGINE}", engine) for base in bases for engine in ENGINES} - names

    assert bases == {"${BASE}"}
    assert re.fullmatch(
        r"python:3\.12\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", arguments()["BASE"]
    )
    assert arguments()["ENGINE"] in ENGINES


def test_sagemaker_is_told_what_the_image_can_do(engine: str) -> None:
    labels = pairs(image(engine), "LABEL")

    assert labels["com.amazonaws.sagemaker.capabilities.bidirectional-streaming"] == "true"
    assert labels["com.amazonaws.sagemaker.capabilities.accept-bind-to-port"] == "true"
    assert ("com.amazonaws.sagemaker.inference.cuda.verified_versions" in labels) == (
        engine == "torch"
    )


def test_the_process_gets_signals_itself_and_serves_by_default(engine: str) -> None:
    (entrypoint,) = image(engine).all("ENTRYPOINT")
    (command,) = image(engine).all("CMD")

    assert json.loads(entrypoint)[0] == "python"  # the exec form is JSON; no shell, no tini
    assert json.loads(command) == ["serve"]
    assert image(engine).all("STOPSIGNAL") == ["SIGTERM"]


def test_the_container_is_offline_and_on_sagemakers_port(engine: str) -> None:
    environment = pairs(image(engine), "ENV", engine)

    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["KOKORO_ENGINE"] == engine
    assert environment.get("KOKORO_DEVICE") == ("cuda" if engine == "torch" else None)
    assert not {"PORT", "SAGEMAKER_BIND_TO_PORT"} & environment.keys()
    assert image(engine).all("EXPOSE") == ["8080"]


def test_docker_can_ask_whether_it_is_well(engine: str) -> None:
    (check,) = image(engine).all("HEALTHCHECK")

    assert json.loads(check.split("CMD", 1)[1]) == ["python", "-m", "kokoro_container.healthcheck"]


def test_it_runs_as_root_which_sagemaker_wants(engine: str) -> None:
    assert image(engine).all("USER") == []


def test_weights_come_from_one_revision_of_the_hub() -> None:
    assert arguments()["HUB_REVISION"] == hub.REVISION
    assert re.fullmatch("[0-9a-f]{40}", hub.REVISION)


def test_the_build_asks_nobody_anything() -> None:
    packages = next(stage for stage in stages() if stage.name == "packages")

    assert pairs(packages, "ENV")["PIP_NO_INPUT"] == "1"
    assert not [value for word, value in instructions() if word == "RUN" and "apt-get" in value]


def _requirements(table: dict) -> list[str]:
    extras = table.get("optional-dependencies", {})
    return [*table["dependencies"], *(r for engine in ENGINES for r in extras.get(engine, ()))]


def test_every_package_of_the_image_has_one_version() -> None:
    packages = next(stage for stage in stages() if stage.name == "packages")
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        requirement = Requirement(line)
        pinned[canonicalize_name(requirement.name)] = str(requirement.specifier)
    wanted = []
    for folder in (ROOT, ROOT / "container"):
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        wanted += [*_requirements(project["project"]), "hatchling"]  # (what both are built with)
    names = {canonicalize_name(Requirement(text).name) for text in wanted}

    assert pairs(packages, "ENV")["PIP_CONSTRAINT"] == "/build/constraints.txt"
    assert any(copied.startswith("constraints.txt ") for copied in packages.all("COPY"))
    assert names - pinned.keys() == {"kokoro-sagemaker-agents"}
    assert all(version.startswith("==") for version in pinned.values())


def test_what_is_copied_exists_and_is_let_through() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_through = {line[1:].rstrip("/") for line in ignored if line.startswith("!")}
    copied = [value.split()[:-1] for word, value in instructions() if word == "COPY"]
    sources = {source for line in copied if "--from" not in line[0] for source in line}

    assert "*" in ignored
    assert sources
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    assert {source.split("/")[0] for source in sources} <= let_through
