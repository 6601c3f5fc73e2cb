"""How far an utterance was played: as its player reports, else as a clock would have it."""

from __future__ import annotations

from math import inf


class PlaybackClock:
    """The position that a listener has reached, in samples of the utterance.

    Without reports audio counts as played in real time from the moment it was taken, piece after
    piece, with a pause wherever the next one was taken too late. Times are those of one monotonic
    clock, in seconds.
    """

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._reported: int | None = None
        # The stretch that plays without a pause: it began at sample `_first` at time `_began_s`
        # and goes on to sample `_until`. Everything before it was played.
        self._began_s = 0.0
        self._first = 0
        self._until: float = 0
        self._known = 0  # samples before those whose number is unknown

    def took(self, samples: int, now_s: float) -> None:
        """The player was given this many more samples at this time."""
        self._resume(now_s)
        self._until += samples

    def took_unknown(self, now_s: float) -> None:
        """The player was given samples whose number is not known until one of the settles."""
        if self._until != inf:
            self._resume(now_s)
            self._known = int(self._until)
            self._until = inf

    def settle(self, samples: int) -> None:
        """What was unknown were this many samples; nothing if nothing was unknown."""
        if self._until == inf:
            self._until = self._known + samples

    def settle_as_played(self, now_s: float) -> None:
        """What was unknown will never be known: no more than what was played by now."""
        if self._until == inf:
            self._until = max(self._known, self._elapsed(now_s))

    def report(self, samples: int) -> None:
        """The player says how many samples it has played altogether; never goes back."""
        self._reported = max(samples, self._reported or 0)

    def position(self, now_s: float) -> int:
        """How many samples have been heard."""
        if self._reported is not None:
            return self._reported
        return int(min(self._elapsed(now_s), self._until))

    def _elapsed(self, now_s: float) -> int:
        """Where the present stretch would be if it went on for ever."""
        return self._first + round((now_s - self._began_s) * self._rate)

    def _resume(self, now_s: float) -> None:
        """Begin a new stretch if the last one was played to its end before `now_s`."""
        if self._until != inf and self._began_s + (self._until - self._first) / self._rate <= now_s:
            self._began_s = now_s
            self._first = int(self._until)
