"""What each vocabulary says of the same reply."""

import base64
import json
from dataclasses import replace

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    ConnectionLost,
    Heard,
    InvalidInput,
    OverloadedError,
    UtteranceCancelled,
    UtteranceDone,
    WordTime,
    WordTimestamps,
)
from kokoro_sagemaker_agents.browser.telling import Telling
from kokoro_sagemaker_agents.browser.vocabularies import VOCABULARIES, AudioFormat

PCM = bytes(range(256)) * 75  # 0.4 s
AUDIO = AudioChunk(
    chunk_id=0, pcm=PCM, sample_rate=24_000, encoding="pcm_s16le", first_sample=100, samples=9600
)
SENTENCE = ChunkStarted(
    chunk_id=0, text="**Hi** you.", spoken="Hi you.", start=0, end=11, first_sample=100
)
WORD = WordTime(text="Hi", start_s=0.1, end_s=0.2, char_start=2, char_end=4)
DONE = ChunkDone(chunk_id=0, samples=9600, duration_s=0.4)
HEARD = Heard(
    text="**Hi", spoken="Hi", complete=False, char_end=4, samples=5000, played_s=5000 / 24_000
)
REPLY = [
    "**Hi** you.",
    SENTENCE,
    WordTimestamps(chunk_id=0, words=(WORD,)),
    AUDIO,
    DONE,
    UtteranceDone(samples=9700, duration_s=0.404, chunks=1, failed=0),
]


DEFAULT_FORMAT = AudioFormat(24_000, "pcm_s16le")


def tell(vocabulary, items, audio=DEFAULT_FORMAT):
    telling = Telling(vocabulary, "r1", audio)
    messages = telling.start()
    for item in items:
        messages += telling.item(item)
    messages += telling.end()
    json.dumps(messages)  # nothing that is no JSON
    return messages


def audio_of(messages, kind, name):
    return b"".join(base64.b64decode(m[name]) for m in messages if m["type"] == kind)


def test_openai() -> None:
    messages = tell("openai", REPLY)
    assert [m["type"].removeprefix("speech.") for m in messages] == [
        "start",
        "text.delta",
        "sentence.start",
        "words",
        "audio.delta",
        "audio.delta",
        "sentence.done",
        "audio.done",
        "end",
    ]
    assert [m["seq"] for m in messages] == list(range(9))
    assert (messages[0]["sample_rate"], messages[0]["encoding"]) == (24_000, "pcm_s16le")
    assert audio_of(messages, "speech.audio.delta", "audio") == PCM
    assert [m["first_sample"] for m in messages if "audio" in m] == [100, 4900]
    assert messages[3]["words"][0]["char_end"] == 4


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_format_that_was_not_foreseen_is_told_before_its_audio(vocabulary) -> None:
    other = replace(AUDIO, sample_rate=48_000, encoding="pcm_mulaw", samples=19_200)
    messages = tell(vocabulary, [SENTENCE, other, DONE])
    text = [json.dumps(message) for message in messages]
    first_audio = next(i for i, part in enumerate(text) if "AAECAwQFBgcICQ" in part)
    said = " ".join(text[:first_audio])
    assert "48000" in said
    assert "mulaw" in said or "PCMU" in said


def test_aws_sample() -> None:
    failed = ChunkFailed(
        chunk_id=1, code="internal", message="No.", retryable=True, text="Not this."
    )
    messages = tell("aws-sample", [*REPLY[:-1], replace(SENTENCE, chunk_id=1), failed])
    assert [m["type"] for m in messages] == [
        "agent_start",
        "text_delta",
        "word_timestamps",
        "audio_stream_start",
        "audio_chunk",
        "audio_chunk",
        "audio_stream_end",
        "error",
        "agent_end",
    ]
    assert audio_of(messages, "audio_chunk", "data") == PCM
    assert [m["seq"] for m in messages if m["type"] == "audio_chunk"] == [0, 1]
    assert messages[6]["total_chunks"] == 2
    assert {m["request_id"] for m in messages} == {"r1"}


def test_langchain_has_one_block_for_the_text_and_one_for_each_sentence() -> None:
    second = [replace(SENTENCE, chunk_id=1), replace(AUDIO, chunk_id=1), replace(DONE, chunk_id=1)]
    messages = tell("langchain", [*REPLY[:-1], " More.", *second])
    data = [m["params"]["data"] for m in messages]
    assert data[0]["event"] == "message-start"
    assert data[-1]["event"] == "message-finish"
    text = "".join(d["delta"]["text"] for d in data if d.get("delta", {}).get("text"))
    assert text == "**Hi** you. More."
    assert data[-2]["content"]["text"] == text
    for index in (1, 2):
        block = [d for d in data if d.get("index") == index]
        assert block[0]["content"]["mime_type"] == "audio/pcm;rate=24000"
        assert block[-1]["event"] == "content-block-finish"
        parts = [base64.b64decode(d["delta"]["data"]) for d in block[1:-1]]
        assert b"".join(parts) == PCM


@pytest.mark.parametrize(
    ("vocabulary", "says"),
    [("openai", "speech.interrupted"), ("aws-sample", "audio_stream_end"), ("langchain", "finish")],
)
def test_an_interruption(vocabulary, says) -> None:
    messages = tell(vocabulary, [*REPLY[:4], UtteranceCancelled(heard=HEARD)])
    assert says in json.dumps(messages[-3:])
    if vocabulary == "openai":
        assert messages[-2]["text"] == "**Hi"
        assert messages[-2]["samples"] == 5000


def test_errors_say_what_a_listener_may_know() -> None:
    def told(error):
        [message] = Telling("openai", "r", AudioFormat(24_000, "mp3")).error(error)
        return message["code"], message["retryable"], message["message"]

    assert told(OverloadedError("Too busy.")) == ("overloaded", True, "Too busy.")
    assert told(ConnectionLost("10.0.0.7 is gone"))[0] == "speech_unavailable"
    assert "10.0.0.7" not in told(ConnectionLost("10.0.0.7 is gone"))[2]
    assert "secret" not in told(KeyError("secret"))[2]


def test_compressed_audio_is_not_cut() -> None:
    mp3 = replace(AUDIO, encoding="mp3", samples=0)
    deltas = [m for m in tell("openai", [SENTENCE, mp3]) if "audio" in m]
    assert [base64.b64decode(m["audio"]) for m in deltas] == [PCM]


def test_a_vocabulary_of_ones_own_and_one_that_there_is_not() -> None:
    class Loud(VOCABULARIES["openai"]):
        def text(self, delta):
            return [{"type": "loud", "text": delta.upper()}]

    assert tell(Loud, ["hey"])[1] == {"type": "loud", "text": "HEY", "seq": 1}
    with pytest.raises(InvalidInput, match="openai, aws-sample, langchain"):
        Telling("ogenai", "r", AudioFormat(24_000, "mp3"))
    with pytest.raises(InvalidInput, match="not dict"):
        tell("openai", [{"text": "no"}])
