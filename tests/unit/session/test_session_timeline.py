"""A server's answers on the utterance's own clock and in its own text."""

from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    Span,
    TextChunk,
    WordTimestamps,
    protocol,
)
from kokoro_sagemaker_agents.credit import Credit
from kokoro_sagemaker_agents.inbox import Inbox
from kokoro_sagemaker_agents.timeline import Timeline

RATE = 24_000


def chunk(text: str, start: int = 0) -> TextChunk:
    return TextChunk(
        text, text, start, start + len(text), "sentence", (Span(0, len(text), start, start + 9),)
    )


def plain(text: str, start: int = 0) -> TextChunk:
    end = start + len(text)
    return TextChunk(text, text, start, end, "sentence", (Span(0, len(text), start, end),))


def audio(chunk_id: int, samples: int | None, data: bytes = b"..") -> protocol.AudioReceived:
    return protocol.AudioReceived(
        context_id="u1",
        chunk_id=chunk_id,
        data=data,
        sample_rate=RATE,
        encoding="pcm_s16le" if samples is not None else "mp3",
        first_sample=0,
        samples=samples,
    )


def words(chunk_id: int, *found: tuple[str, float, float, int, int]) -> protocol.WordTimestamps:
    made = tuple(
        protocol.Word(text=t, start=s, end=e, char_start=a, char_end=b) for t, s, e, a, b in found
    )
    return protocol.WordTimestamps(context_id="u1", chunk_id=chunk_id, words=made)


def done(chunk_id: int, samples: int, **more: Any) -> protocol.ChunkDone:
    return protocol.ChunkDone(
        context_id="u1", chunk_id=chunk_id, samples=samples, duration=samples / RATE, **more
    )


def error(chunk_id: int) -> protocol.Error:
    return protocol.Error(
        code="synthesis_failed", message="no", retryable=True, context_id="u1", chunk_id=chunk_id
    )


def kinds(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_positions_and_times_go_on_from_chunk_to_chunk() -> None:
    timeline = Timeline(RATE)
    assert timeline.add(plain("One.")) == 0
    assert timeline.add(TextChunk("**", "", 4, 6, "silent")) is None
    assert timeline.add(plain("Two.", 6)) == 1

    first = timeline.audio(audio(0, 12_000))
    timeline.chunk_done(done(0, 12_000))
    second = timeline.words(words(1, ("Two", 0.25, 0.5, 0, 3)))
    (piece,) = timeline.audio(audio(1, 6_000))
    (end,) = timeline.chunk_done(done(1, 6_000, queue_ms=1.0, g2p_ms=2.0, synthesis_ms=3.0))

    assert kinds(first) == ["ChunkStarted", "AudioChunk"]
    started, timed = second
    assert isinstance(started, ChunkStarted)
    assert (started.start, started.first_sample) == (6, 12_000)
    assert isinstance(timed, WordTimestamps)
    (word,) = timed.words
    assert (word.start_s, word.end_s, word.char_start, word.char_end) == (0.75, 1.0, 6, 9)
    assert isinstance(piece, AudioChunk)
    assert (piece.first_sample, piece.duration_s) == (12_000, 0.25)
    assert isinstance(end, ChunkDone)
    assert (end.timings.queue_ms, end.timings.g2p_ms, end.timings.synthesis_ms) == (1, 2, 3)
    assert timeline.done().duration_s == 0.75


def test_what_is_about_a_later_chunk_waits_for_its_turn() -> None:
    timeline = Timeline(RATE)
    for start, text in enumerate(["One.", "Two.", "Three", "Four"]):
        timeline.add(plain(text, start * 9))

    assert timeline.words(words(2, ("Three", 0, 0.1, 0, 5))) == []
    assert timeline.chunk_failed(error(1), 1) == []
    assert timeline.chunk_failed(error(3), 3) == []
    timeline.audio(audio(0, 2400))
    assert kinds(timeline.chunk_done(done(0, 2400))) == ["ChunkDone", "ChunkFailed"]
    events = timeline.audio(audio(2, 2400))
    assert kinds(events) == ["ChunkStarted", "WordTimestamps", "AudioChunk"]
    timed = events[1]
    assert isinstance(timed, WordTimestamps)
    assert timed.words[0].start_s == 0.1
    assert kinds(timeline.chunk_done(done(2, 2400))) == ["ChunkDone", "ChunkFailed"]
    assert (timeline.done().chunks, timeline.done().failed) == (2, 2)


def test_a_chunk_that_fails_midway_keeps_what_was_heard_of_it() -> None:
    timeline = Timeline(RATE)
    timeline.add(plain("One."))
    timeline.add(plain("Two.", 4))
    timeline.audio(audio(0, 1000))

    (failed,) = timeline.chunk_failed(error(0), 0)
    started, piece = timeline.audio(audio(1, 500))

    assert isinstance(failed, ChunkFailed)
    assert failed.text == "One."
    assert isinstance(started, ChunkStarted)
    assert started.first_sample == 1000
    assert isinstance(piece, AudioChunk)
    assert piece.first_sample == 1000


def test_a_chunk_of_no_samples_is_begun_and_done() -> None:
    timeline = Timeline(RATE)
    timeline.add(plain("Hm."))
    assert kinds(timeline.chunk_done(done(0, 0))) == ["ChunkStarted", "ChunkDone"]


@pytest.mark.parametrize(
    ("span", "range_"),
    [((0, 99), (0, 4)), ((90, 99), (4, 4)), ((3, 1), (3, 3))],
)
def test_word_positions_outside_the_text_are_brought_inside(
    span: tuple[int, int], range_: tuple[int, int]
) -> None:
    timeline = Timeline(RATE)
    timeline.add(plain("Word"))
    timed = timeline.words(words(0, ("Word", 0, 1, *span)))[1]
    assert isinstance(timed, WordTimestamps)
    assert (timed.words[0].char_start, timed.words[0].char_end) == range_


def test_words_of_a_chunk_without_a_map_point_to_all_of_it() -> None:
    timeline = Timeline(RATE)
    timeline.add(TextChunk("By hand", "By hand", 5, 12, "sentence"))
    timed = timeline.words(words(0, ("By", 0, 1, 0, 2)))[1]
    assert isinstance(timed, WordTimestamps)
    assert (timed.words[0].char_start, timed.words[0].char_end) == (5, 12)


def test_compressed_chunks_are_counted_when_they_end() -> None:
    timeline = Timeline(RATE)
    timeline.add(plain("One two."))
    timeline.add(plain("Two.", 8))
    timeline.words(words(0, ("One", 0.0, 0.5, 0, 3), ("two", 0.5, 1.0, 4, 7)))
    first, second = timeline.audio(audio(0, None)), timeline.audio(audio(0, None))
    assert timeline.heard(RATE * 3 // 4, ended=False).text == "One two"
    timeline.chunk_done(done(0, RATE))
    third = timeline.audio(audio(1, None))

    pieces = [event for event in (*first, *second, *third) if isinstance(event, AudioChunk)]
    assert [(piece.first_sample, piece.samples) for piece in pieces] == [(0, 0), (0, 0), (RATE, 0)]
    assert timeline.samples == RATE


def test_warnings_come_with_what_they_are_about() -> None:
    timeline = Timeline(RATE)
    timeline.add(plain("One."))
    for chunk_id, message in [(0, "of the chunk"), (7, "of none"), (None, "of all")]:
        timeline.warning(
            protocol.ServerWarning(message=message, context_id="u1", chunk_id=chunk_id)
        )
    end = timeline.chunk_done(done(0, 0, warnings=("at the end",)))[-1]

    assert isinstance(end, ChunkDone)
    assert end.warnings == ("of the chunk", "at the end")
    assert timeline.done().warnings == ("of none", "of all")


# --- credit and what waits ---


def test_credit_is_given_back_in_portions_and_exactly() -> None:
    credit = Credit(1000, RATE)
    grants = [credit.took(100) for _ in range(50)]

    assert set(grants) == {0, 300}
    assert 5000 - sum(grants) < 250


def test_compressed_audio_never_starves_and_its_surplus_is_taken_back() -> None:
    """48 kbit/s: a second is 6 000 bytes; the server sends while it has credit."""
    window = 30 * RATE
    credit, server, granted = Credit(window, RATE), window, 0
    for _ in range(40):  # chunks of 25 s
        for _ in range(25):
            assert server > 0
            server -= RATE
            grant = credit.took_compressed(6000)
            server, granted = server + grant, granted + grant
        grant = credit.chunk_ended(25 * RATE)
        server, granted = server + grant, granted + grant

    assert granted < 1000 * RATE + 25 * 8 * RATE


def test_an_inbox_knows_when_far_too_much_waits_in_it() -> None:
    inbox = Inbox(RATE, RATE)
    piece = AudioChunk(
        chunk_id=0,
        pcm=bytes(60 * RATE * 2),
        sample_rate=RATE,
        encoding="pcm_s16le",
        first_sample=0,
        samples=60 * RATE,
    )
    inbox.put(piece, piece)
    assert not inbox.overrun
    inbox.put(piece)
    assert inbox.overrun
    assert inbox.take(0.0) == (piece, 60 * RATE)
    assert not inbox.overrun
    inbox.clear()
    assert len(inbox) == 0
