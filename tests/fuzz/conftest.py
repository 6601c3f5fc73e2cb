import importlib.util

# The container needs Python < 3.13; where only the client is installed there is nothing to test.
if importlib.util.find_spec("kokoro_container") is None:
    collect_ignore_glob = ["test_*.py"]
