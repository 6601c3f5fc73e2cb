"""What holds for every test."""

import os
from importlib.util import find_spec

from hypothesis import settings

# The torch engine has an environment of its own; `make test-torch` runs its tests there.
collect_ignore = [] if find_spec("torch") else ["torch"]

# The same examples on every run, so that a change fails its own tests and nobody else's; to look
# for new ones: HYPOTHESIS_PROFILE=default.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
