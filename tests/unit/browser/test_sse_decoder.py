"""Events come out whole, however the bytes are split, by the HTML standard's rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_sagemaker_agents.browser.sse import encode_event
from kokoro_sagemaker_agents.browser.sse_decoder import ServerSentEvent, SseDecoder
from kokoro_sagemaker_agents.errors import RemoteProtocolError

MESSAGES = st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=4)


@given(messages=st.lists(MESSAGES, max_size=5), data=st.data())
def test_what_was_encoded_comes_back_however_it_is_split(messages, data) -> None:
    stream = b"".join(
        encode_event(message, event_id=str(number)) for number, message in enumerate(messages)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, events = SseDecoder(), []
    for first, last in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        events += decoder.feed(stream[first:last])
    expected = [json.loads(json.dumps(m).encode("utf-8", "replace")) for m in messages]
    assert [event.json() for event in events] == expected
    assert [event.id for event in events] == [str(n) for n in range(len(messages))]


STREAM = (
    "\ufeff: hello\ndata: first\r\ndata:second ü\r\nid: 7\revent: e\n\r\nretry: 900\r\rdata\n\n"
)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("ending", ["", "data: cut off", "data: cut off\n"])
def test_every_kind_of_line(step, ending) -> None:
    raw = (STREAM + ending).encode()
    decoder, events = SseDecoder(), []
    for at in range(0, len(raw), step):
        events += decoder.feed(raw[at : at + step])
        assert decoder.feed(b"") == []
    assert events == [
        ServerSentEvent("first\nsecond ü", "e", "7"),
        ServerSentEvent("", "message", "7"),
    ]
    assert (decoder.last_event_id, decoder.retry_ms) == ("7", 900)


def test_an_endless_event_is_refused() -> None:
    decoder = SseDecoder(most_event_bytes=1000)
    decoder.feed(b": comment\n\n" * 1000)  # many events may be longer together
    for _ in range(10):
        decoder.feed(b"x" * 100)
    with pytest.raises(RemoteProtocolError, match="1000 bytes"):
        decoder.feed(b"x")
