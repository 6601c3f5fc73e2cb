"""From an LLM's tokens to speakable chunks: one sentence, one chunk.

The source passes through three stages, each of which looks at every character once. The filter
(`filters`) removes markup and marks where blocks end; the visible text (`visible`) collects what
is spoken together with the positions it came from; the boundary rules (`boundaries`, `periods`)
answer SPLIT, NO or MORE at every mark in it. Three things cut a chunk short of a sentence end:
the length limit (`lengths`), for the first chunk a clause (`clauses`), and the end of the text.

Nothing depends on how the text was cut into tokens, with two exceptions that are asked for:
eager release and `poll`, both of which act on the fact that no more text is there yet.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import replace
from typing import Final, Literal

from .boundaries import CANDIDATE, MORE, NO, SPLIT, Answer
from .characters import BREAK
from .chunk import Kind, TextChunk
from .clauses import CLAUSE_MARKS, clause
from .filters import SPECIAL, MarkupFilter
from .languages import get_language
from .lengths import LengthLimit
from .lists import MARKER, MAX_MARKER, item_after
from .pieces import BREAK as BREAK_PIECE
from .pieces import DROP, OPEN, SUB, TEXT, Piece
from .rules import Boundaries
from .visible import VisibleText

#: A stall after which `poll` releases a finished sentence: LLM tokens come every 10 to 50 ms,
#: a tool call takes much longer than this.
IDLE_RELEASE_S: Final = 0.2
#: Source without anything to speak (reasoning, code) is handed on in pieces of this size.
SILENT_CHARS: Final = 512

#: Most source that is dropped inside one sentence; the longest link address fits in.
_MAX_DROPPED: Final = 2048
#: A longer token is taken in pieces, so that the work stays proportional to its length.
_MAX_TOKEN: Final = 4096

_FIRST_CANDIDATE: Final = re.compile(CANDIDATE.pattern[:-1] + CLAUSE_MARKS + "]")
_MARKED: Final = re.compile(SPECIAL.pattern[:-1] + CANDIDATE.pattern[1:])
_FIRST_MARKED: Final = re.compile(_MARKED.pattern[:-1] + CLAUSE_MARKS + "]")
#: Marks that belong to a sentence which was released before they came.
_STRAGGLERS: Final = re.compile(r"[.!?…\"'”’»)\]}」』】》〉）。！？]+")
_MIN_PHONEMES: Final = 40


class SentenceChunker:
    """Cuts a stream of text into chunks that are ready to be spoken.

    Args:
        language: `en-us`, `en-gb`, `es`, `fr`, `hi`, `it`, `ja`, `pt-br`, `zh` or `de`.
        first_chunk: `"clause"` lets the first chunk of an utterance end at a clause mark, so
            that speech starts sooner; `"sentence"` never does.
        max_phonemes: Estimated phonemes at which a chunk is cut short of its sentence end. The
            model takes 510 and rushes above about 400. Very large values switch this off.
        eager_first: Release the first chunk on its closing mark when that is very probably a
            sentence end, without waiting for the next character. Makes that one decision depend
            on token boundaries.
        eager_all: The same for every chunk.
        code: `"drop"` code blocks silently, or `"announce"` them by one short sentence.
        tables: Speak tables by `"rows"`, or `"drop"` them.
        emoji: `"drop"` emoji, or `"name"` them (English only).
        tags: `"keep"` SSML and other XML tags in the spoken text, whole, or `"drop"` them.
            HTML formatting is always dropped, as are reasoning and tool calls.
        idle_release_s: The stall in seconds after which `poll` releases a finished sentence.

    Raises:
        ValueError: An unknown language (the message lists the known ones) or option value.
    """

    def __init__(
        self,
        language: str = "en-us",
        *,
        first_chunk: Literal["clause", "sentence"] = "clause",
        max_phonemes: float = 400,
        eager_first: bool = False,
        eager_all: bool = False,
        code: Literal["drop", "announce"] = "drop",
        tables: Literal["rows", "drop"] = "rows",
        emoji: Literal["drop", "name"] = "drop",
        tags: Literal["keep", "drop"] = "keep",
        idle_release_s: float = IDLE_RELEASE_S,
    ) -> None:
        self._language = get_language(language)
        _check("first_chunk", first_chunk, ("clause", "sentence"))
        _check("code", code, ("drop", "announce"))
        _check("tables", tables, ("rows", "drop"))
        _check("emoji", emoji, ("drop", "name"))
        _check("tags", tags, ("keep", "drop"))
        if emoji == "name" and not language.lower().startswith("en"):
            raise ValueError(
                f"emoji='name' has only English names, language is {language!r}: use emoji='drop'"
            )
        if not _MIN_PHONEMES <= max_phonemes < float("inf"):
            raise ValueError(
                f"max_phonemes must be a finite number of at least {_MIN_PHONEMES}, "
                f"got {max_phonemes}; a very large one switches the limit off"
            )
        if not idle_release_s >= 0:
            raise ValueError(f"idle_release_s must be 0 or more seconds, got {idle_release_s}")
        self._clause_first = first_chunk == "clause"
        self._eager_first = eager_first or eager_all
        self._eager_all = eager_all
        self._idle_release_s = idle_release_s
        self._filter = MarkupFilter(code, tables, emoji, tags, self._language.code_notice)
        self._rules = Boundaries(self._language)
        self._limit = LengthLimit(self._language, max_phonemes)
        self.reset()

    def reset(self) -> None:
        """Forget everything, as after an interruption; positions start at 0 again."""
        self._filter.reset()
        self._visible = VisibleText()
        self._begin_utterance()

    def _begin_utterance(self) -> None:
        self._first = True
        self._open_spans: list[tuple[int, int]] = []
        self._stragglers = False
        self._begin_chunk()

    def _begin_chunk(self) -> None:
        by_clause = self._first and self._clause_first
        self._pattern = _FIRST_CANDIDATE if by_clause else CANDIDATE
        self._marked = _FIRST_MARKED if by_clause else _MARKED
        self._quiet = False
        self._scan = 0
        self._item: re.Pattern[str] | None = None
        self._item_known = False
        self._limit.restart()

    @property
    def pending(self) -> str:
        """Source text that was fed and is in no chunk yet."""
        return self._visible.source

    def feed(self, text: str) -> list[TextChunk]:
        """Take the next token; returns the chunks it completes, often none.

        Args:
            text: Any piece of text, of any length.
        """
        if self._quiet and self._marked.search(text) is None:
            length = self._scan + len(text)
            if text and length < self._limit.due:
                self._visible.source += text
                self._visible.append(text, self._filter.skip(text))
                self._scan = length
                return []
        chunks: list[TextChunk] = []
        for start in range(0, len(text), _MAX_TOKEN):
            chunks += self._feed(text[start : start + _MAX_TOKEN])
        self._quiet = self._is_quiet()
        if self._eager_first and (self._first or self._eager_all):
            chunks += self._release_plausible(eager=True)
        return chunks

    def _feed(self, text: str) -> list[TextChunk]:
        visible = self._visible
        visible.source += text
        markup = self._filter
        if markup.idle and not self._stragglers and SPECIAL.search(text) is None:
            visible.append(text, markup.skip(text))
            chunks = self._release_silence(visible.base + len(visible.source))
        else:
            chunks = self._take(markup.feed(text))
        return chunks + self._release(False)

    def _is_quiet(self) -> bool:
        """Whether text without any mark or markup can only lengthen what is pending."""
        return (
            self._filter.idle
            and self._item_known
            and self._item is None
            and 0 < self._scan == len(self._visible.text)
        )

    def flush(self) -> list[TextChunk]:
        """The text is over: everything that is left, in one or more chunks.

        What is fed afterwards belongs to a new utterance; positions go on counting.
        """
        chunks = self._take(self._filter.finish())
        chunks += self._release(True)
        visible = self._visible
        if visible.text:
            chunks.append(self._cut(len(visible.text), "tail"))
        if visible.source:
            stop = visible.base + len(visible.source)
            silent = visible.cut_silent(stop)
            if chunks and chunks[-1].end == silent.start:
                last = chunks[-1]
                chunks[-1] = replace(last, text=last.text + silent.text, end=stop)
            else:
                chunks.append(silent)
        visible.text = ""
        visible.syncs.clear()
        self._begin_utterance()
        return chunks

    def poll(self, idle_s: float) -> list[TextChunk]:
        """Tell the chunker that no text came for a while, as during a tool call.

        Releases a sentence that reads as finished and waits only for the next character to be
        certain; never half a sentence. What comes later starts a new chunk.

        Args:
            idle_s: Seconds since the last `feed`.
        """
        if not idle_s >= self._idle_release_s:
            return []
        chunks = self._take(self._filter.settle())
        return chunks + self._release(False) + self._release_plausible()

    # -- the filter's pieces --------------------------------------------------------------------

    def _take(self, pieces: list[Piece]) -> list[TextChunk]:
        """Add pieces to the visible text; returns the chunks that blocks' ends complete."""
        visible = self._visible
        chunks: list[TextChunk] = []
        for kind, text, start, end in pieces:
            if kind == TEXT:
                self._add(text, start)
            elif kind == BREAK_PIECE:
                visible.replace(BREAK, start, start)
                chunks += self._release(False)
                self._stragglers = False
                if visible.source[: start - visible.base].strip():
                    # A dropped block ends here: it is no part of the sentence that follows.
                    chunks.append(visible.cut_silent(start))
            elif kind == SUB:
                visible.replace(text, start, end)
            else:
                if kind != DROP and self._first:
                    self._open_spans.append((len(visible.text), 1 if kind == OPEN else -1))
                chunks += self._bound_dropped(end)
            chunks += self._release_silence(end)
        return chunks

    def _bound_dropped(self, end: int) -> list[TextChunk]:
        """End the sentence where too much of it, up to source position `end`, was dropped."""
        visible = self._visible
        stop = visible.base + len(visible.text) + _MAX_DROPPED
        if not visible.text or end < stop:
            return []
        visible.replace(BREAK, stop, stop)
        return self._release(False)

    def _add(self, text: str, start: int) -> None:
        if self._stragglers:
            match = _STRAGGLERS.match(text)
            if match:
                start += match.end()
                text = text[match.end() :]
            self._stragglers = not text
        if text:
            self._visible.append(text, start)

    def _release_silence(self, stop: int) -> list[TextChunk]:
        """Hand on source up to `stop` if nothing of it is spoken and there is much of it."""
        visible = self._visible
        chunks: list[TextChunk] = []
        while not visible.text and stop - visible.base >= SILENT_CHARS:
            chunks.append(visible.cut_silent(visible.base + SILENT_CHARS))
        return chunks

    # -- boundaries -----------------------------------------------------------------------------

    def _release(self, final: bool) -> list[TextChunk]:
        chunks: list[TextChunk] = []
        while True:
            text = self._visible.text
            if not text:
                return chunks
            if text[0] == BREAK:
                self._visible.skip(1)
                self._begin_chunk()
                continue
            end, kind = self._next_cut(text, final)
            if end < 0:
                return chunks
            chunks.append(self._cut(end, kind))

    def _next_cut(self, text: str, final: bool) -> tuple[int, Kind]:
        """Where the next chunk ends and why; -1 while that is open."""
        limit = self._limit.reached(text) if len(text) >= self._limit.due else 0
        pattern = self._pattern
        stop = limit or len(text)
        item = self._next_item(text, stop) if self._item or not self._item_known else 0
        while True:
            match = pattern.search(text, self._scan, stop)
            if item and (match is None or item < match.start()):
                return item, "sentence"
            if match is None:
                break
            at = match.start()
            kind: Kind = "sentence"
            if text[at] in CLAUSE_MARKS and not self._inside_span(at):
                kind = "clause"
                answer, position = clause(text, at, final, self._language)
            elif text[at] in CLAUSE_MARKS:
                answer, position = NO, at + 1
            else:
                answer, position = self._judge(text, at, final)
            if answer == MORE:
                self._scan = at
                return -1, kind
            if answer == SPLIT:
                return position, kind
            self._scan = position
        self._scan = max(self._scan, stop)
        if limit:
            return self._limit.cut(text, limit), "forced"
        return -1, "sentence"

    def _judge(self, text: str, at: int, final: bool) -> Answer:
        """The rules' answer, but nothing without a letter or digit is a sentence."""
        answer, position = self._rules.judge(text, at, final)
        if answer == SPLIT and text[at] != BREAK and not _speakable(text[:position]):
            return NO, max(position, at + 1)
        return answer, position

    def _next_item(self, text: str, stop: int) -> int:
        """Where the next item of an inline list begins ("1. one 2. two"), 0 if nowhere."""
        if not self._item_known:
            marker = MARKER.match(text)
            self._item_known = marker is not None or len(text) > MAX_MARKER
            if marker:
                self._item = item_after(marker)
        if self._item is None:
            return 0
        match = self._item.search(text, max(self._scan - MAX_MARKER, 0), stop)
        return match.start() if match and match["text"][0].isupper() else 0

    def _inside_span(self, at: int) -> bool:
        """Whether emphasis is open at visible position `at`."""
        return sum(change for position, change in self._open_spans if position <= at) > 0

    def _release_plausible(self, *, eager: bool = False) -> list[TextChunk]:
        """Release the pending text if it ends in a mark that is very probably a sentence end."""
        text = self._visible.text
        if not text or self._scan >= len(text) or text[self._scan] in CLAUSE_MARKS:
            return []
        if not _speakable(text) or not self._rules.plausible_end(text, self._scan, eager):
            return []
        chunk = self._cut(len(text.rstrip()), "sentence")
        self._stragglers = not text[-1].isspace()
        return [chunk]

    def _cut(self, end: int, kind: Kind) -> TextChunk:
        text = self._visible.text
        if _speakable(text[:end]):
            chunk = self._visible.cut(end, kind)
            self._first = False
        else:
            silent = self._visible.cut(end, "silent")
            chunk = replace(silent, spoken="", spans=())
        self._begin_chunk()
        return chunk


def _speakable(text: str) -> bool:
    return any(map(str.isalnum, text))


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


async def chunk_tokens(
    tokens: AsyncIterable[str], chunker: SentenceChunker | None = None
) -> AsyncGenerator[TextChunk, None]:
    """The chunks of a stream of tokens, as they are completed.

    Args:
        tokens: The stream; it is read to its end.
        chunker: Takes the text; flushed at the end, reset if the reader stops early or the
            stream fails. Without one, an American English chunker with default options.
    """
    chunker = chunker or SentenceChunker()
    finished = False
    try:
        async for token in tokens:
            for chunk in chunker.feed(token):
                yield chunk
        for chunk in chunker.flush():
            yield chunk
        finished = True
    finally:
        if not finished:
            chunker.reset()
