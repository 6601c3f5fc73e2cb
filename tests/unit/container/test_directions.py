"""Lexicons, given pronunciations and pauses, as they are heard."""

import numpy as np
import pytest

from kokoro_container.engines.base import FRAME_SAMPLES, SAMPLE_RATE, CancelToken, EngineAudio
from kokoro_container.engines.tone import ToneEngine, read_back, spell
from kokoro_container.synthesis import MAX_PAUSES_S, Speech, Synthesizer
from kokoro_container.text.lexicon import Lexicon
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SAMPLE_RATES, SpeechOptions, Word

VOICES = Voices()
INLINE = SpeechOptions(markup="inline")


class _Loud(ToneEngine):
    """Loud from its first sample to its last."""

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        frames = np.ones(len(phonemes) + 2, np.int64)
        return EngineAudio(np.full(int(frames.sum()) * FRAME_SAMPLES, 0.8, np.float32), frames)


class Heard:
    """A chunk, spoken to its end."""

    def __init__(self, speech: Speech) -> None:
        self.words: list[Word] = []
        self.warnings: list[str] = []
        self.calls = 0
        data, more = b"", True
        while more:
            done = speech.phonemise()
            more = done.more
            self.warnings += done.warnings
            for piece in done.pieces:
                audio = speech.render(piece, CancelToken())
                data += audio.data
                self.words += audio.words
                self.calls += bool(piece.phonemes)
        data += speech.rest().data
        self.samples = np.frombuffer(data, "<i2").astype(np.float32) / 32767.0

    @property
    def phonemes(self) -> str:
        return read_back(self.samples)


def hear(text: str, options: SpeechOptions = INLINE, **more: object) -> Heard:
    lexicon = Lexicon.of(more.pop("entries", {}))  # type: ignore[arg-type]  # the test's own
    everything = Synthesizer(ToneEngine(), spell, VOICES, **more)  # type: ignore[arg-type]  # as above
    return Heard(everything.speech(text, options, lexicon=lexicon))


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["/abc/", "abc"])
def test_a_word_of_the_lexicon_is_said_as_told_and_times_keep_its_spelling(said: str) -> None:
    text = "Meet Nguyen, the new nguyen."

    result = hear(text, SpeechOptions(), entries={"en-us": {"nguyen": said}})

    assert result.phonemes == "metabcthenewabc"
    assert [word.text for word in result.words] == ["Meet", "Nguyen", "the", "new", "nguyen"]
    for word in result.words:
        assert text[word.char_start : word.char_end] == word.text
    stretch = result.samples[
        round(result.words[1].start * SAMPLE_RATE) : round(result.words[1].end * SAMPLE_RATE)
    ]
    assert read_back(stretch) == "abc"


def test_two_words_said_for_one_are_one_in_the_times() -> None:
    text = "Use SQL now"

    result = hear(text, SpeechOptions(), entries={"en-us": {"SQL": "see quil"}})

    assert result.phonemes == "usesequilnow"
    assert [word.text for word in result.words] == ["Use", "SQL", "now"]


def test_another_languages_entries_do_not_apply() -> None:
    entries = {"fr": {"hello": "/abc/"}}

    assert hear("hello", SpeechOptions(), entries=entries).phonemes == "helo"
    assert hear("hello", SpeechOptions(language="fr"), entries=entries).phonemes == "abc"


def test_a_long_texts_words_point_into_all_of_it() -> None:
    text = "The nguyen is here, and there. " * 40

    result = hear(text, SpeechOptions(), entries={"en-us": {"nguyen": "wi n"}})

    assert len(result.words) == 40 * 6
    assert all(text[word.char_start : word.char_end] == word.text for word in result.words)
    assert result.phonemes.count("thewinishere") == 40


def test_a_given_pronunciation_is_said_only_where_the_text_is_trusted() -> None:
    text = "A [cat](/dɔɡ/) sat"

    assert hear(text).phonemes == "adɔɡsat"
    assert hear(text, SpeechOptions(), trusted=True).phonemes == "adɔɡsat"
    assert hear(text, SpeechOptions()).phonemes == "acatsat"
    assert [(w.text, w.char_start) for w in hear(text).words] == [("A", 0), ("cat", 3), ("sat", 15)]


def test_a_given_pronunciation_that_is_none_is_a_warning() -> None:
    result = hear("A [cat](/d7g/) sat")

    assert result.phonemes == "acatsat"
    assert any("'7'" in warning for warning in result.warnings)


# --- pauses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", SAMPLE_RATES)
@pytest.mark.parametrize("mark", ["[pause:{}s]", '<break time="{}s"/>'])
def test_a_pause_is_that_many_samples_of_silence(rate: int, mark: str) -> None:
    """0.2 s are a whole number of samples at every rate."""
    options = SpeechOptions(sample_rate=rate, markup="inline")

    without, with_it = (
        hear(f"One two. {mark.format(length)} Three.", options) for length in ("0", "0.2")
    )

    assert len(with_it.samples) - len(without.samples) == rate // 5
    moved = [(w.start - v.start) for v, w in zip(without.words, with_it.words, strict=True)]
    assert moved == pytest.approx([0.0, 0.0, 0.2])


def test_it_is_silent_and_the_words_behind_it_are_where_they_are_heard() -> None:
    result = hear("One [pause:700ms] two")

    one, two = result.words
    assert two.start - one.end >= 0.7
    between = result.samples[round((one.end + 0.05) * SAMPLE_RATE) :][: round(0.65 * SAMPLE_RATE)]
    assert not between.any()
    assert read_back(result.samples[round(two.start * SAMPLE_RATE) :]) == "two"


def test_a_pause_alone_needs_no_model_and_is_no_warning() -> None:
    result = hear("[pause:1.5s]")

    assert len(result.samples) == 1.5 * SAMPLE_RATE
    assert result.calls == 0
    assert result.warnings == []


def test_an_untrusted_text_makes_no_pause() -> None:
    longer = len(hear("one [pause:5s] two").samples) - len(
        hear("one [pause:5s] two", SpeechOptions()).samples
    )

    assert longer > 4 * SAMPLE_RATE


def test_pauses_are_bounded_one_by_one_and_together() -> None:
    result = hear("[pause:9999s] one " * 30)

    silent_s = len(result.samples) / SAMPLE_RATE - len(hear("one " * 30).samples) / SAMPLE_RATE
    assert silent_s == pytest.approx(MAX_PAUSES_S, abs=30 * 0.3)  # each `one` is a call of its own
    assert any("cut to 10 s" in warning for warning in result.warnings)
    assert any("beyond 60 s" in warning for warning in result.warnings)
    assert len(result.words) == 30


def test_joins_at_a_pause_do_not_click() -> None:
    """Cut in the middle of loud sound, which is the worst case."""
    everything = Synthesizer(_Loud(), spell, VOICES)

    samples = Heard(everything.speech("one [pause:0.1s] two, [pause:0.1s] three", INLINE)).samples

    assert samples.max() > 0.7
    assert np.abs(np.diff(samples, prepend=0.0, append=0.0)).max() < 0.01


@pytest.mark.parametrize("from_sample", [100, 20_000, 40_000])
def test_a_resumed_chunk_with_a_pause_goes_on_exactly_where_it_was(from_sample: int) -> None:
    text = "One two. [pause:1s] Three four."
    everything = Synthesizer(ToneEngine(), spell, VOICES)

    whole = Heard(everything.speech(text, INLINE))
    rest = Heard(everything.speech(text, INLINE, from_sample=from_sample))

    assert np.array_equal(rest.samples, whole.samples[from_sample:])


# --- mixes ---------------------------------------------------------------------------------------


def test_mixes_are_made_once_and_only_so_many_are_kept() -> None:
    voices = Voices()
    mix = "af_heart(2)+bf_emma(1)"
    first = voices.style(mix, 10)
    assert np.shares_memory(first, voices.style(mix, 10))

    for weight in range(3, 40):
        voices.style(f"af_heart({weight})+bf_emma(1)", 10)

    assert not np.shares_memory(first, voices.style(mix, 10))
