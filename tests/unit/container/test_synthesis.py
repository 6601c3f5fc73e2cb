"""From text to audio: nothing cut off, natural pauses, word times where the words are."""

import numpy as np
import pytest

from kokoro_container.engines.base import (
    FRAME_SAMPLES,
    SAMPLE_RATE,
    CancelToken,
    EngineAudio,
    EngineFailed,
)
from kokoro_container.engines.tone import ToneEngine, read_back, spell
from kokoro_container.synthesis import PAUSE_S, Rendered, Speech, Synthesizer
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import SpeechOptions, Word

VOICES = Voices()


def synthesizer(engine: object = None, **options: int) -> Synthesizer:
    return Synthesizer(engine or ToneEngine(), spell, VOICES, **options)


def spoken(speech: Speech) -> tuple[list[Rendered], bytes]:
    """All of a chunk, one step after the other."""
    rendered = []
    more = True
    while more:
        done = speech.phonemise()
        more = done.more
        rendered += [speech.render(piece, CancelToken()) for piece in done.pieces]
    return rendered, b"".join(audio.data for audio in rendered) + speech.rest().data


def floats(data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<i2").astype(np.float32) / 32767.0


def words_of(rendered: list[Rendered]) -> list[Word]:
    return [word for audio in rendered for word in audio.words]


def test_what_is_asked_for_is_what_is_heard() -> None:
    _, data = spoken(synthesizer().speech("The quick brown fox.", SpeechOptions()))

    assert read_back(floats(data)) == "thequickbrownfox"


def test_the_silence_around_a_call_is_cut_down_to_a_natural_pause() -> None:
    (audio,), data = spoken(synthesizer().speech("word.", SpeechOptions()))
    samples = floats(data)
    sound = np.flatnonzero(np.abs(samples) > 0.05)

    assert sound[0] / SAMPLE_RATE == pytest.approx(0.03, abs=0.012)
    assert (len(samples) - sound[-1]) / SAMPLE_RATE == pytest.approx(0.25, abs=0.012)
    assert audio.duration_s == len(samples) / SAMPLE_RATE


@pytest.mark.parametrize(
    ("text", "ending"), [("word!", "sentence"), ("word,", "clause"), ("word", "none")]
)
def test_the_pause_follows_the_mark(text: str, ending: str) -> None:
    _, data = spoken(synthesizer().speech(text, SpeechOptions()))
    sound = np.flatnonzero(np.abs(floats(data)) > 0.05)

    after = (len(data) // 2 - sound[-1]) / SAMPLE_RATE
    assert after == pytest.approx(PAUSE_S[ending], abs=0.012)  # type: ignore[index]  # a Literal


def test_pieces_join_without_a_click() -> None:
    """Cut in the middle of loud sound, which is the worst case."""
    rendered, data = spoken(
        synthesizer(_Broken(0.8, 2), call_phonemes=20).speech("word " * 40, SpeechOptions())
    )

    assert len(rendered) == 10
    assert np.abs(np.diff(floats(data), prepend=0.0, append=0.0)).max() < 0.01


def test_word_times_are_where_the_words_are_heard() -> None:
    text = "The quick brown fox, and then a dog. " * 6
    rendered, data = spoken(synthesizer(call_phonemes=60).speech(text, SpeechOptions()))
    samples = floats(data)

    words = words_of(rendered)

    assert len(rendered) > 3
    assert [text[word.char_start : word.char_end] for word in words] == text.translate(
        str.maketrans("", "", ",.")
    ).split()
    for word in words:
        heard = samples[round(word.start * SAMPLE_RATE) : round(word.end * SAMPLE_RATE)]
        assert read_back(heard) == spell(word.text, "en-us").phonemes


def test_word_times_are_in_order_and_inside_the_audio() -> None:
    text = "One, two, three — four! Five? Six (seven) eight."
    rendered, data = spoken(synthesizer(call_phonemes=10).speech(text, SpeechOptions()))
    words = words_of(rendered)
    times = [time for word in words for time in (word.start, word.end)]

    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= len(data) / 2 / SAMPLE_RATE
    assert all(word.start < word.end for word in words)


def test_words_of_a_long_text_point_into_all_of_it() -> None:
    text = "The quick brown fox, and then a dog. " * 60
    rendered, data = spoken(synthesizer().speech(text, SpeechOptions()))

    words = words_of(rendered)

    assert len(words) == 60 * 8
    assert all(text[word.char_start : word.char_end] == word.text for word in words)
    assert read_back(floats(data)) == spell(text, "en-us").phonemes.translate(
        str.maketrans("", "", " ,.")
    )


def test_a_long_texts_first_words_do_not_wait_for_its_last_ones() -> None:
    looked_at: list[str] = []

    def watched(text: str, language: str) -> object:
        looked_at.append(text)
        return spell(text, language)

    speech = Synthesizer(ToneEngine(), watched, VOICES).speech(
        "The quick brown fox, and then a dog. " * 500, SpeechOptions()
    )

    first = speech.phonemise()

    assert first.more
    assert first.pieces
    assert sum(map(len, looked_at)) < 1000


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100, 48000])
@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_mulaw", "pcm_alaw"])
def test_every_rate_and_encoding_has_the_same_length(rate: int, encoding: str) -> None:
    options = SpeechOptions(sample_rate=rate, encoding=encoding)  # type: ignore[arg-type]  # a str
    rendered, data = spoken(
        synthesizer(call_phonemes=20).speech("The quick brown fox, the dog.", options)
    )

    samples = len(data) / (2 if encoding == "pcm_s16le" else 1)
    assert samples / rate == pytest.approx(sum(a.duration_s for a in rendered), abs=1.5 / rate)


def test_16_khz_says_the_same() -> None:
    _, data = spoken(
        synthesizer(call_phonemes=9).speech(
            "The quick brown fox.", SpeechOptions(sample_rate=16000)
        )
    )

    assert read_back(floats(data), 16000) == "thequickbrownfox"


@pytest.mark.parametrize("rate", [8000, 24000])
@pytest.mark.parametrize("from_sample", [0, 1, 5000, 20_001, 10_000_000])
def test_a_resumed_chunk_goes_on_exactly_where_it_was(rate: int, from_sample: int) -> None:
    text = "One two three, four five six. Seven eight nine, ten eleven twelve."
    options = SpeechOptions(sample_rate=rate)
    parts = synthesizer(call_phonemes=20)

    whole, data = spoken(parts.speech(text, options, opening=True))
    resumed, rest = spoken(parts.speech(text, options, opening=True, from_sample=from_sample))

    assert rest == data[2 * from_sample :]
    assert words_of(resumed) == [w for w in words_of(whole) if w.end > from_sample / rate]


def test_speed_changes_the_length_and_the_pauses() -> None:
    slow, fast = (
        len(spoken(synthesizer().speech("Hello there.", SpeechOptions(speed=speed)))[1])
        for speed in (0.5, 2.0)
    )

    assert slow > 2.5 * fast


def test_slow_speech_gets_shorter_calls() -> None:
    text = "word " * 70

    def calls(speed: float) -> int:
        return len(synthesizer().speech(text, SpeechOptions(speed=speed)).phonemise().pieces)

    assert calls(0.5) > calls(1.0) > calls(2.0)


@pytest.mark.parametrize("text", ["", " ", "!?", "😀", "12", "\x00", "…—…"])
def test_nothing_to_say_is_no_audio_and_a_warning(text: str) -> None:
    speech = synthesizer().speech(text, SpeechOptions())

    done = speech.phonemise()

    assert done.pieces == ()
    assert done.warnings
    assert not done.more
    assert speech.rest() == (b"", 0)


def test_a_replys_markup_is_not_said() -> None:
    text = "# Title\n\nThis is **bold**, and `this` too.\n\n```\nx = 1\n```\n"

    _, data = spoken(synthesizer().speech(text, SpeechOptions(), raw=True))

    assert read_back(floats(data)) == "titlethisisboldandthisto"  # a double letter is one tone


def test_the_voices_language_is_used_unless_another_is_asked_for() -> None:
    asked: list[str] = []

    def watched(text: str, language: str) -> object:
        asked.append(language)
        return spell(text, language)

    everything = Synthesizer(ToneEngine(), watched, VOICES)
    for options in (SpeechOptions(voice="ff_siwis"), SpeechOptions(language="it")):
        everything.speech("bon", options).phonemise()

    assert asked == ["fr", "it"]


def test_an_unknown_voice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="af_nobody"):
        synthesizer().speech("hello", SpeechOptions(voice="af_nobody"))


class _Broken(ToneEngine):
    """Gives what a broken model would."""

    def __init__(self, samples: float, frames: int) -> None:
        super().__init__()
        self._samples, self._frames = samples, frames

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        frames = np.ones(len(phonemes) + self._frames, np.int64)
        samples = np.full(int(frames.sum()) * FRAME_SAMPLES, self._samples, np.float32)
        return EngineAudio(samples, frames)


@pytest.mark.parametrize(
    "engine", [_Broken(float("nan"), 2), _Broken(float("inf"), 2), _Broken(0.1, 1)]
)
def test_audio_that_cannot_be_right_fails_the_chunk(engine: ToneEngine) -> None:
    with pytest.raises(EngineFailed):
        spoken(synthesizer(engine).speech("hello", SpeechOptions()))


def test_too_loud_a_model_is_clipped() -> None:
    _, data = spoken(synthesizer(_Broken(3.0, 2)).speech("hello", SpeechOptions()))

    samples = np.frombuffer(data, "<i2")
    assert samples.min() == 0
    assert samples.max() == 32767


def test_a_model_that_gives_silence_gives_silence_of_the_same_length() -> None:
    (audio,), _ = spoken(synthesizer(_Broken(0.0, 2)).speech("hello", SpeechOptions()))

    assert audio.duration_s == pytest.approx(5 * 0.025, abs=0.1)
