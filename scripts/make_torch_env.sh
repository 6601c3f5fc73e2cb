#!/bin/sh
# Make .venv-torch, the environment of the torch engine, or bring it up to date.
#
# PyPI's torch is the CUDA build on Linux, several GB with what it needs; it works without a GPU.
# Where pip's own settings (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS, pip.conf) offer the CPU build for
# one of the suitable Pythons, that one is taken: a tenth of the download.
#
# As in make_env.sh a stamp says what the environment was made from, and PYTHON names the Python.
set -eu
cd "$(dirname "$0")/.."

ENV=.venv-torch
STAMP=$ENV/env.stamp
LOG=$ENV/install.log
TORCH=$(sed -n 's/^torch==//p' constraints.txt)

say() {
    printf '%s: %s\n' "$ENV" "$1"
}

# Prints the Python to make the environment from.
choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        sh scripts/find_python.sh
        return
    fi
    first=
    for version in 3.12 3.11; do
        found=$(PYTHON_VERSIONS=$version sh scripts/find_python.sh 2>/dev/null) || continue
        first=${first:-$found}
        if "$found" -m pip install --quiet --dry-run --ignore-installed --no-deps \
            --disable-pip-version-check "torch==$TORCH+cpu" >/dev/null 2>&1; then
            printf '%s\n' "$found"
            return
        fi
    done
    if [ -n "$first" ]; then
        printf '%s\n' "$first"
    else
        sh scripts/find_python.sh # says what was looked for
    fi
}

# Prints the stamp of an environment made with interpreter $1.
describe() {
    printf 'folder %s\npython %s\n' "$(pwd -P)" "$1"
    cksum pyproject.toml container/pyproject.toml constraints.txt scripts/make_torch_env.sh
}

before=
if [ -x "$ENV/bin/python" ] && [ -f "$STAMP" ]; then
    before=$(cat "$STAMP")
fi
python=$(printf '%s\n' "$before" | sed -n 's/^python //p')
if [ -z "$python" ] || [ -n "${PYTHON:-}" ]; then
    python=$(choose_python)
fi
now=$(describe "$python")
if [ "$before" = "$now" ]; then
    say "up to date ($("$ENV/bin/python" -V))"
    exit 0
fi

started_s=$(date +%s)
rm -f "$STAMP"
if [ -z "$before" ] ||
    [ "$(printf '%s\n' "$before" | sed 2q)" != "$(printf '%s\n' "$now" | sed 2q)" ]; then
    say "making it with $python (minutes)"
    "$python" -m venv --clear "$ENV"
else
    say "requirements changed, installing"
fi
if ! "$ENV/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off \
    -c constraints.txt -e . -e './container[onnx,torch]' \
    hypothesis pytest pytest-asyncio pytest-timeout pocketsphinx >"$LOG" 2>&1 </dev/null; then
    cat "$LOG" >&2
    say "pip failed; its output is above and in $LOG. Mend the cause, then run make test-torch again." >&2
    exit 1
fi
printf '%s\n' "$now" >"$STAMP.part"
mv "$STAMP.part" "$STAMP"
say "ready after $(($(date +%s) - started_s)) s ($("$ENV/bin/python" -V); log: $LOG)"
