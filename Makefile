# POSIX make and GNU Make. ARGS='…' is handed on to the command that a target runs;
# PYTHON=… names the Python to make .venv from.
.POSIX:
.PHONY: help env test test-torch lint format demo bench bench-peers soak clean

help: ## this list (the default)
	@echo "make TARGET [ARGS='...'] [PYTHON=...]"
	@sed -n 's/^\([a-z-]*\):[a-z ]*## \(.*\)/  \1	\2/p' Makefile

env: ## .venv with both packages and everything to run and test them (Python 3.12, else 3.11)
	@PYTHON="$(PYTHON)" sh scripts/make_env.sh

test: env ## every test; ARGS='tests/unit -k chunker' for some
	.venv/bin/pytest $(ARGS)

test-torch: ## the torch engine's tests, in .venv-torch (made first: minutes; a GPU is not needed)
	@PYTHON="$(PYTHON)" sh scripts/make_torch_env.sh
	OMP_WAIT_POLICY=PASSIVE .venv-torch/bin/pytest tests/torch $(ARGS)

lint: env ## style, formatting and types (ruff, mypy --strict); changes nothing
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy src container/src
	@if [ -x .venv/bin/hadolint ]; then .venv/bin/hadolint container/Dockerfile; \
	else echo "hadolint is not in .venv (no wheel for this machine): the Dockerfile is not linted"; fi

format: env ## put the code into the one format, with what ruff can mend by itself
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

demo: env ## a scripted LLM speaks with the real voice: out/reply.wav, out/first-audio.png, a table
	.venv/bin/kokoro-agents demo $(ARGS)

bench: env ## every benchmark, one after the other; figures also in out/bench/*.json
	@sh scripts/bench.sh $(ARGS)

soak: env ## ten minutes of cancels, torn connections and garbage: what is lost or left; ARGS='--seconds 60'
	.venv/bin/python benchmarks/container_load.py --part soak $(ARGS)

bench-peers: env ## the environments of the splitters that benchmarks/chunker.py runs beside ours
	.venv/bin/python benchmarks/chunker.py --prepare

clean: ## remove all that make made here (environments, out/, caches); prepared weights stay in the user's cache
	rm -rf .venv .venv-torch .venv-bench-* out dist container/dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src container/src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
