"""How much audio a server may send ahead of its reader, so that memory stays bounded."""

from __future__ import annotations

from typing import Final

# Grants are gathered up to this part of the window: a fine-grained one would cost a message for
# each piece of audio, a coarse one would let the server run dry.
_GRANT_PART: Final = 0.25
# Fewest bytes that a second of compressed audio can have: Opus goes down to 6 kbit/s (RFC 6716,
# section 2.1.1), MP3 to 8 (ISO 13818-3). Too much credit is taken back when the chunk's length is
# known; too little could leave both sides waiting for each other.
_COMPRESSED_BYTES_PER_S: Final = 750


class Credit:
    """The account of one utterance.

    The server starts with `window` samples and is given back what the reader takes.

    Args:
        window: Samples the server may be ahead.
        sample_rate: Hertz.
    """

    def __init__(self, window: int, sample_rate: int) -> None:
        self.window = window
        self._rate = sample_rate
        self._due = 0  # taken and not yet granted; negative: granted too much
        self._estimated = 0  # part of the current chunk that was only estimated

    def took(self, samples: int) -> int:
        """The reader took this many samples; returns how many to grant now, mostly 0."""
        self._due += samples
        if self._due < self.window * _GRANT_PART:
            return 0
        grant, self._due = self._due, 0
        return grant

    def took_compressed(self, size: int) -> int:
        """The reader took this many bytes of compressed audio; returns how many to grant now."""
        samples = size * self._rate // _COMPRESSED_BYTES_PER_S
        self._estimated += samples
        return self.took(samples)

    def chunk_ended(self, samples: int) -> int:
        """The reader took a chunk's end, which tells its length; returns how many to grant now."""
        if not self._estimated:
            return 0
        surplus, self._estimated = self._estimated - samples, 0
        return self.took(-surplus)
