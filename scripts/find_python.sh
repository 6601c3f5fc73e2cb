#!/bin/sh
# Print the path of the Python to make .venv from: a 3.12 if this machine has one, else a 3.11.
#
# Looked at, for 3.12 first and then for 3.11: python3.12 (python3.11), python3 and python in every
# folder of PATH, then the versions folders of pyenv, which need not be on PATH. A candidate counts
# only if it runs (a pyenv shim for a version that is not selected exits non-zero), says that it is
# the version looked for, and has venv and ensurepip (Debian packs them apart).
#
# PYTHON=command-or-path names one instead; then no other is looked for. PYTHON_VERSIONS='3.11'
# narrows the choice.
set -eu

# The newest first. misaki 0.9.4 (container/pyproject.toml) ends below 3.13.
VERSIONS=${PYTHON_VERSIONS:-'3.12 3.11'}

# Prints "VERSION PATH" of the interpreter behind a command: of the base one where the command
# belongs to a virtual environment, which may be the one about to be remade.
probe() {
    "$1" -c 'import ensurepip, os, sys, venv
base = getattr(sys, "_base_executable", None) or sys.executable
print("%d.%d %s" % (sys.version_info[0], sys.version_info[1], os.path.realpath(base)))' \
        </dev/null 2>/dev/null
}

# Prints every place where a Python of version $1 may be, one a line, the likeliest first.
candidates() {
    for name in "python$1" python3 python; do
        rest=$PATH:
        while [ -n "$rest" ]; do
            folder=${rest%%:*}
            rest=${rest#*:}
            printf '%s\n' "${folder:-.}/$name"
        done
    done
    for root in "${PYENV_ROOT:-}" "${HOME:-}/.pyenv"; do
        for path in "$root/versions/$1"*/bin/python; do
            printf '%s\n' "$path"
        done
    done
}

# Prints the first Python of version $1 that works; fails where there is none.
find_version() {
    while IFS= read -r candidate; do
        if [ -x "$candidate" ] && [ ! -d "$candidate" ] && found=$(probe "$candidate"); then
            case $found in
            "$1 "*)
                printf '%s\n' "${found#* }"
                return 0
                ;;
            esac
        fi
    done <<LIST
$(candidates "$1")
LIST
    return 1
}

if [ -n "${PYTHON:-}" ]; then
    if ! found=$(probe "$PYTHON"); then
        echo "PYTHON=$PYTHON does not run as a Python 3 with the modules venv and ensurepip." >&2
        echo "Name another one, or leave PYTHON out to have one looked for." >&2
        exit 1
    fi
    for version in $VERSIONS; do
        case $found in
        "$version "*)
            printf '%s\n' "${found#* }"
            exit 0
            ;;
        esac
    done
    echo "PYTHON=$PYTHON is Python ${found%% *}; the environment needs one of: $VERSIONS." >&2
    exit 1
fi

for version in $VERSIONS; do
    if find_version "$version"; then
        exit 0
    fi
done
echo "No suitable Python found: the environment needs one of: $VERSIONS, with venv and ensurepip.
Looked for python3.12, python3.11, python3 and python on PATH, and in pyenv's versions folders.
Install one, for example:
    Debian, Ubuntu   apt install python3 python3-venv
    macOS            brew install python@3.12
    pyenv            pyenv install 3.12
or name one that is somewhere else:
    make env PYTHON=/path/to/python3.12" >&2
exit 1
