"""No network, no heavy import, no words of one thread in another's result."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from kokoro_container.text import Phonemizer

_OFFLINE = """
import sys

NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
# ctypes asks these where a shared library is; a download would start pip.
LINKER = ("ldconfig", "gcc", "cc", "ld", "objdump")

def refuse(event, args):
    process = event == "subprocess.Popen" and str(args[0]).rpartition("/")[2] not in LINKER
    if event in NETWORK or event == "os.system" or process:
        raise AssertionError(f"{event}: {args}")

sys.addaudithook(refuse)
from kokoro_container.text import LANGUAGES, Phonemizer
phonemizer = Phonemizer()
for language in LANGUAGES:
    assert phonemizer("hello zxqv 25", language).phonemes
assert "torch" not in sys.modules
try:
    import socket
    socket.create_connection(("127.0.0.1", 9))
except AssertionError:
    print("offline")
"""

_LIGHT = """
import sys
import kokoro_container.text
heavy = {"misaki", "spacy", "numpy", "phonemizer", "jieba", "pypinyin", "pyopenjtalk", "torch"}
print(sorted(heavy & set(sys.modules)))
"""


def _python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_language_touches_the_network_or_starts_a_process() -> None:
    # The last line shows that the watch itself works.
    assert _python(_OFFLINE).splitlines() == ["offline"]


def test_importing_the_package_loads_no_language() -> None:
    assert _python(_LIGHT).strip() == "[]"


def test_threads_hear_only_their_own_words(phonemizer: Phonemizer) -> None:
    # Words that are in no lexicon: they go to espeak, whose state is shared by all callers.
    texts = [
        (f"The zxqv{i} kubectl{i} grplx{i} wombling {i} थोड़ा", ("en-us", "es")[i % 2])
        for i in range(48)
    ]
    expected = [phonemizer(*text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        rounds = [list(pool.map(lambda t: phonemizer(*t), texts)) for _ in range(3)]
    assert all(results == expected for results in rounds)
