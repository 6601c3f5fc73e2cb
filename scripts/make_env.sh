#!/bin/sh
# Make .venv, or bring it up to date: both packages, editable, with everything to run and test them.
#
# A stamp in .venv says what it was made from. Where that still holds nothing is done. Where only
# the requirements changed they are installed over what is there. In every other case (none yet, an
# interrupted run, another interpreter, a moved folder) .venv is made anew.
#
# PYTHON=command-or-path: the Python to use (see find_python.sh). Without it a finished .venv keeps
# the one it has.
set -eu
cd "$(dirname "$0")/.."

STAMP=.venv/env.stamp
LOG=.venv/install.log

say() {
    printf '.venv: %s\n' "$1"
}

# Prints the stamp of an environment made with interpreter $1.
describe() {
    printf 'folder %s\npython %s\n' "$(pwd -P)" "$1"
    cksum pyproject.toml container/pyproject.toml constraints.txt scripts/make_env.sh
}

# Prints the stamp's lines "folder" and "python": where they differ nothing can be kept.
basis() {
    printf '%s\n' "$1" | sed -n '1,2p'
}

# Says each second how far the log has come: one line rewritten on a terminal, elsewhere a line
# every half minute.
report() {
    waited_s=0
    while kill -0 "$$" 2>/dev/null; do
        sleep 1 >/dev/null 2>&1
        waited_s=$((waited_s + 1))
        step=$(grep -E '^ *(Collecting|Downloading|Building|Installing) ' "$LOG" | tail -n 1 | cut -c 1-60)
        if [ -t 1 ]; then
            printf '\r\033[K.venv: %s s  %s' "$waited_s" "$step"
        elif [ $((waited_s % 30)) -eq 0 ]; then
            say "$waited_s s  $step"
        fi
    done
}

stop_report() {
    kill "$reporter" 2>/dev/null || :
    wait "$reporter" 2>/dev/null || :
    if [ -t 1 ]; then
        printf '\r\033[K'
    fi
}

interrupted() {
    kill "$worker" 2>/dev/null || :
    stop_report
    say "interrupted; run make env again" >&2
    exit 130
}

# Runs a command with its output in the log; returns the command's exit status.
run_logged() {
    "$@" >"$LOG" 2>&1 </dev/null &
    worker=$!
    report &
    reporter=$!
    trap interrupted INT TERM HUP
    status=0
    wait "$worker" || status=$?
    trap - INT TERM HUP
    stop_report
    return "$status"
}

before=
if [ -x .venv/bin/python ] && [ -f "$STAMP" ]; then
    before=$(cat "$STAMP")
fi
if [ -n "$before" ] && [ -z "${PYTHON:-}" ]; then
    python=$(printf '%s\n' "$before" | sed -n 's/^python //p')
else
    python=$(sh scripts/find_python.sh)
fi
# Taken before the installation: a file edited meanwhile makes the next run install again.
now=$(describe "$python")
if [ "$before" = "$now" ]; then
    say "up to date ($(.venv/bin/python -V))"
    exit 0
fi

started_s=$(date +%s)
rm -f "$STAMP"
if [ "$(basis "$before")" = "$(basis "$now")" ]; then
    say "requirements changed, installing"
else
    say "making it with $python"
    "$python" -m venv --clear .venv
fi
if ! run_logged .venv/bin/python -m pip install --disable-pip-version-check --no-input \
    --progress-bar off -c constraints.txt -e '.[local,pipecat,sagemaker,emulator,browser,dev]' -e ./container; then
    cat "$LOG" >&2
    say "pip failed; its output is above and in $LOG. Mend the cause, then run make env again." >&2
    exit 1
fi
printf '%s\n' "$now" >"$STAMP.part"
mv "$STAMP.part" "$STAMP"
say "ready after $(($(date +%s) - started_s)) s ($(.venv/bin/python -V); log: $LOG)"
