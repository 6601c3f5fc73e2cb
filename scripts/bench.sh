#!/bin/sh
# Run every benchmark, one after the other, each with its own JSON file; fails if one failed.
# Files whose name starts with "_" are parts of benchmarks, not benchmarks. Arguments go to each.
set -eu
cd "$(dirname "$0")/.."

mkdir -p out/bench
failed=
for script in benchmarks/[!_]*.py; do
    if [ ! -f "$script" ]; then
        echo "There is no benchmark in benchmarks/." >&2
        exit 1
    fi
    name=$(basename "$script" .py)
    printf '\n== %s\n' "$name"
    .venv/bin/python "$script" --json "out/bench/$name.json" "$@" || failed="$failed $name"
done
if [ -n "$failed" ]; then
    printf '\nFailed:%s\n' "$failed" >&2
    exit 1
fi
