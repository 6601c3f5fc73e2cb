"""The event stream codec, beside the two that AWS's own libraries have."""

import random
from datetime import UTC, datetime
from io import BytesIO
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("h2", reason="the extra [emulator] is not installed")

from kokoro_sagemaker_agents.emulator.eventstream import (
    MAX_PAYLOAD_BYTES,
    Decoder,
    InvalidEvent,
    Message,
    decode,
    encode,
)

WHEN = datetime(2026, 12, 1, 12, 30, 15, 250_000, tzinfo=UTC)
EVERY_TYPE = Message(
    {
        "yes": True,
        "no": False,
        "number": -70_000,
        "bytes": bytes(range(256)),
        ":event-type": "PayloadPart",
        "text": "grüße ☃",
        ":date": WHEN,
        "id": UUID(int=2**100 + 1),
    },
    b"\x00payload\xff",
)


def test_every_type_comes_back() -> None:
    assert decode(encode(EVERY_TYPE)) == EVERY_TYPE


def test_botocore_reads_what_we_write() -> None:
    eventstream = pytest.importorskip("botocore.eventstream", reason="needs [sagemaker]")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(encode(EVERY_TYPE))
    (event,) = list(buffer)

    assert event.payload == EVERY_TYPE.payload
    assert event.headers["text"] == "grüße ☃"
    assert event.headers["number"] == -70_000
    assert event.headers[":date"] == int(WHEN.timestamp() * 1000)


def test_we_read_what_the_sdk_writes_and_it_reads_us() -> None:
    events = pytest.importorskip("smithy_aws_event_stream.events", reason="needs Python 3.12")
    theirs = events.EventMessage(headers=dict(EVERY_TYPE.headers), payload=EVERY_TYPE.payload)

    assert decode(theirs.encode()) == EVERY_TYPE
    read = events.Event.decode(BytesIO(encode(EVERY_TYPE))).message
    assert (read.headers, read.payload) == (EVERY_TYPE.headers, EVERY_TYPE.payload)


@given(st.lists(st.binary(max_size=300), max_size=6), st.integers(1, 50))
def test_pieces_of_any_size_make_the_same_messages(payloads: list[bytes], size: int) -> None:
    messages = [Message({"n": n}, payload) for n, payload in enumerate(payloads)]
    data = b"".join(map(encode, messages))
    decoder = Decoder()
    read = [
        message
        for at in range(0, len(data), size)
        for message in decoder.feed(data[at : at + size])
    ]

    assert read == messages
    assert decoder.pending_bytes == 0


def test_no_flipped_bit_goes_unnoticed() -> None:
    data = encode(EVERY_TYPE)
    for at in range(len(data)):
        broken = bytearray(data)
        broken[at] ^= 1 << random.Random(at).randrange(8)
        with pytest.raises(InvalidEvent):
            decode(bytes(broken))


def test_a_message_cut_short_is_pending() -> None:
    decoder = Decoder()
    assert decoder.feed(encode(EVERY_TYPE)[:-1]) == []
    assert decoder.pending_bytes == len(encode(EVERY_TYPE)) - 1
    with pytest.raises(InvalidEvent, match="exactly one"):
        decode(encode(EVERY_TYPE)[:-1])


def test_more_than_clients_take_is_not_written() -> None:
    with pytest.raises(InvalidEvent, match="send less"):
        encode(Message({}, bytes(MAX_PAYLOAD_BYTES + 1)))
