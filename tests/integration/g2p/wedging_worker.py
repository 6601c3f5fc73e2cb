"""What a `PhonemizerPool` of these tests runs: letters for phonemes, and texts that do harm.

It is found by its name in PYTHONPATH and loads in a moment.
"""

import ctypes
import os
import signal
import time
from pathlib import Path

from kokoro_container.engines.tone import spell
from kokoro_container.text import Phonemes, worker


class Wedging:
    def warm_up(self, languages) -> None:
        if "fr" in languages:
            raise RuntimeError("the French data is not installed")

    def __call__(self, text: str, language: str) -> Phonemes:
        first, _, rest = text.partition(" ")
        if first == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif first == "hang":
            while True:
                pass
        elif first == "hold":  # and let no other thread of the process run
            ctypes.PyDLL(None).sleep(600)
        elif first == "fail":
            raise OverflowError(text)
        elif first == "until":  # a file is there
            path, _, rest = rest.partition(" ")
            while not Path(path).exists():
                time.sleep(0.01)
        return spell(text, language)


if __name__ == "__main__":
    worker.main(Wedging())
