"""How a command fails: one sentence that says what to do, and an exit code."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2  # argparse's own code for wrong arguments


class CommandFailed(Exception):
    """The command cannot go on. The message is one sentence for the user, ending in what to do."""

    exit_code = FAILED


class UsageError(CommandFailed):
    """The arguments do not make sense together, or ask for what this version does not have."""

    exit_code = USAGE
