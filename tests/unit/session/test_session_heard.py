"""How far was it played, and which words is that: the pure parts behind `cancel`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_sagemaker_agents import Span, TextChunk
from kokoro_sagemaker_agents.heard import HeardWord, Passage, heard_of
from kokoro_sagemaker_agents.playback import PlaybackClock

RATE = 1000  # hertz: a sample is a millisecond
CHAR = 100  # samples a character is spoken


def chunk_of(text: str, start: int = 0) -> TextChunk:
    spoken = text.strip()
    at = start + text.index(spoken)
    span = Span(0, len(spoken), at, at + len(spoken))
    return TextChunk(text, spoken, start, start + len(text), "sentence", (span,) if spoken else ())


def passages_of(*texts: str, words: bool = True) -> list[Passage]:
    """Spoken chunks one after the other, each character 100 samples."""
    passages, sample, start = [], 0, 0
    for text in texts:
        chunk = chunk_of(text, start)
        length = len(chunk.spoken) * CHAR
        passage = Passage(chunk=chunk, first_sample=sample, last_sample=sample + length, done=True)
        at = 0
        for word in chunk.spoken.split() if words else []:
            at = chunk.spoken.index(word, at)
            end = at + len(word)
            middle, last = sample + (at + end) * CHAR // 2, sample + end * CHAR
            passage.words.append(
                HeardWord(
                    first=sample + at * CHAR,
                    middle=middle,
                    end=last,
                    spoken_start=at,
                    spoken_end=end,
                    char_end=chunk.source_range(at, end)[1],
                )
            )
            at = end
        passages.append(passage)
        sample += length
        start += len(text)
    return passages


def heard(passages: list[Passage], played: int, ended: bool = True) -> str:
    return heard_of(passages, played, RATE, ended).text


@pytest.mark.parametrize(
    ("played", "text"),
    [
        (0, ""),
        (199, ""),  # "Good" is half said at 200
        (200, "Good"),
        (400, "Good"),
        (700, "Good day"),
        (800, "Good day"),
        (899, "Good day"),
        (900, "Good day."),
        (1100, "Good day. All"),
        (2300, "Good day. All is well."),
    ],
)
def test_a_word_counts_once_half_of_it_was_played(played: int, text: str) -> None:
    passages = passages_of("Good day.", " All is well.")
    for passage in passages:  # without the full stop, as a recogniser would have them
        last = passage.words[-1]
        passage.words[-1] = last._replace(
            end=last.end - CHAR, spoken_end=last.spoken_end - 1, char_end=last.char_end - 1
        )
        passage.words[-1] = passage.words[-1]._replace(middle=last.middle - CHAR // 2)
    passages[0].done = played >= 900
    passages[1].done = played >= 2300

    assert heard(passages, played) == text


def test_a_chunk_whose_last_word_was_played_was_heard_with_its_punctuation() -> None:
    passages = passages_of("Good day.")
    last = passages[0].words[-1]
    passages[0].words[-1] = last._replace(end=last.end - CHAR, char_end=last.char_end - 1)

    assert heard(passages, 800) == "Good day."
    assert heard_of(passages, 800, RATE, True).complete


def test_without_word_times_the_text_is_cut_between_words() -> None:
    passages = passages_of("One two three.", words=False)

    assert [heard(passages, n * CHAR) for n in (2, 3, 6, 7, 13, 14)] == [
        "",
        "One",
        "One",
        "One two",
        "One two",
        "One two three.",
    ]


def test_without_spaces_it_is_cut_between_characters() -> None:
    assert heard(passages_of("今天天气很好。", words=False), 4 * CHAR) == "今天天气"


def test_without_word_times_or_an_end_the_pace_of_ordinary_speech_is_assumed() -> None:
    (passage,) = passages_of("x" * 14 + " " + "y" * 14 + " z", words=False)
    passage.done, passage.last_sample = False, None

    assert heard([passage], RATE) == "x" * 14  # 15 characters a second
    assert heard([passage], 100 * RATE) == "x" * 14 + " " + "y" * 14  # never more than a guess


def test_what_failed_is_in_the_text_but_was_not_said() -> None:
    passages = passages_of("One.", " Two.", " Three.")
    passages[1].done, passages[1].failed, passages[1].words = False, True, []
    passages[1].last_sample = passages[1].first_sample

    found = heard_of(passages, 10_000, RATE, True)
    assert found.text == "One. Two. Three."
    assert found.spoken == "One. Three."
    assert not found.complete


def test_silent_parts_belong_to_the_text_once_something_behind_them_was_heard() -> None:
    silent = Passage(chunk=TextChunk("<think>a</think>", "", 0, 16, "silent"))
    spoken = Passage(chunk=chunk_of("Yes. ", 16), first_sample=0, last_sample=400, done=True)
    end = Passage(chunk=TextChunk("```x```", "", 21, 28, "silent"))

    assert heard([silent, spoken], 0) == ""
    found = heard_of([silent, spoken, end], 400, RATE, True)
    assert (found.text, found.char_end) == ("<think>a</think>Yes. ```x```", 28)
    assert found.complete
    assert not heard_of([silent, spoken, end], 400, RATE, False).complete


def test_nothing_pushed_and_ended_is_complete() -> None:
    found = heard_of([], 0, RATE, True)
    assert (found.text, found.char_end, found.complete) == ("", 0, True)


@given(
    st.lists(st.text("ab .", max_size=12), max_size=5),
    st.lists(st.integers(0, 8000), min_size=2, max_size=2),
    st.booleans(),
)
def test_more_played_is_never_less_heard(texts: list[str], played: list[int], words: bool) -> None:
    passages = passages_of(*texts, words=words)
    less, more = (heard_of(passages, n, RATE, True) for n in sorted(played))

    assert "".join(texts).startswith(more.text)
    assert more.text.startswith(less.text)
    assert len(more.text) == more.char_end
    assert len(more.spoken) >= len(less.spoken)


# --- the clock ---


def test_audio_taken_ahead_plays_in_real_time() -> None:
    clock = PlaybackClock(RATE)
    clock.took(2000, now_s=10.0)
    clock.took(3000, now_s=10.1)

    assert [clock.position(t) for t in (10.0, 11.0, 13.5, 15.0, 99.0)] == [
        0,
        1000,
        3500,
        5000,
        5000,
    ]


def test_audio_taken_too_late_begins_where_it_was_taken() -> None:
    clock = PlaybackClock(RATE)
    clock.took(1000, now_s=10.0)
    assert clock.position(12.0) == 1000
    clock.took(1000, now_s=15.0)

    assert [clock.position(t) for t in (15.0, 15.5, 17.0)] == [1000, 1500, 2000]


def test_what_the_player_reports_counts_and_never_goes_back() -> None:
    clock = PlaybackClock(RATE)
    clock.took(5000, now_s=0.0)
    clock.report(1200)
    clock.report(700)

    assert clock.position(100.0) == 1200


def test_compressed_audio_plays_from_its_first_piece_and_ends_with_its_chunk() -> None:
    clock = PlaybackClock(RATE)
    clock.took_unknown(10.0)
    clock.took_unknown(10.5)
    assert clock.position(12.0) == 2000
    clock.settle(1500)
    assert clock.position(12.0) == 1500
    clock.took_unknown(12.0)
    assert clock.position(13.0) == 2500
    clock.settle_as_played(13.0)
    assert clock.position(20.0) == 2500
    clock.settle(99)  # nothing was unknown

    assert clock.position(20.0) == 2500


@given(st.lists(st.tuples(st.sampled_from(["took", "look"]), st.integers(0, 999), st.floats(0, 3))))
def test_the_position_never_goes_back_nor_beyond_what_was_taken(
    steps: list[tuple[str, int, float]],
) -> None:
    clock, now_s, taken, before = PlaybackClock(RATE), 0.0, 0, 0
    for kind, samples, pause_s in steps:
        now_s += pause_s
        if kind == "took":
            clock.took(samples, now_s)
            taken += samples
        position = clock.position(now_s)
        assert before <= position <= taken
        before = position
