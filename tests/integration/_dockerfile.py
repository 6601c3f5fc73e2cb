"""What the image tests read of container/Dockerfile."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "container/Dockerfile"


@dataclass
class Stage:
    """From one FROM to the next.

    Attributes:
        base: an image or another stage, as written.
        name: what it is called.
        instructions: keyword and the rest of the line, in order.
    """

    base: str
    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, keyword: str) -> list[str]:
        return [value for word, value in self.instructions if word == keyword]


def instructions() -> list[tuple[str, str]]:
    """Every instruction as its keyword and what follows, in order."""
    lines = [line for line in DOCKERFILE.read_text("utf-8").splitlines() if line[:1] != "#"]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [
        (line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines() if line
    ]


def arguments() -> dict[str, str]:
    """The defaults of the build's arguments."""
    return dict(
        value.split("=", 1) for word, value in instructions() if word == "ARG" and "=" in value
    )


def stages() -> list[Stage]:
    found: list[Stage] = []
    for word, value in instructions():
        if word == "FROM":
            base, _, name = re.split(r"\s+", value)
            found.append(Stage(base, name))
        elif found:
            found[-1].instructions.append((word, value))
    return found


def image(engine: str) -> Stage:
    """The last stage with all that it inherits, the image itself, for `--build-arg ENGINE=…`."""
    by_name = {stage.name: stage for stage in stages()}
    last = stages()[-1]
    chain = [last]
    while (base := chain[-1].base.replace("${ENGINE}", engine)) in by_name:
        chain.append(by_name[base])
    merged = Stage(chain[-1].base, last.name)
    for stage in reversed(chain):
        merged.instructions += stage.instructions
    return merged


def pairs(stage: Stage, keyword: str, engine: str = "") -> dict[str, str]:
    """The names and values of its ENV or LABEL instructions."""
    return {
        name: value.replace("${ENGINE}", engine)
        for line in stage.all(keyword)
        for name, value in (pair.split("=", 1) for pair in line.split())
    }
