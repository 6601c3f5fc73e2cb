"""Frames survive any way of cutting their bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_sagemaker_agents.errors import RemoteProtocolError
from kokoro_sagemaker_agents.protocol.framing import Unpacker, pack

FRAMES = st.lists(st.one_of(st.text(), st.binary()), max_size=8)


@given(FRAMES, st.lists(st.integers(0, 40)))
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(
    frames: list[str | bytes], cuts: list[int]
) -> None:
    data = b"".join(map(pack, frames))
    unpacker = Unpacker()
    found: list[str | bytes] = []
    for cut in cuts:
        found += unpacker.feed(data[:cut])
        data = data[cut:]
    found += unpacker.feed(data)
    assert found == frames


def test_the_bytes_are_as_documented() -> None:
    assert pack("é") == b"\x00\x00\x00\x02\xc3\xa9"
    assert pack(b"\x01\x02\x03") == b"\x80\x00\x00\x03\x01\x02\x03"


@pytest.mark.parametrize("data", [b"<html>", b"RIFF\xff\xff\xff\xff", b"\x00\x00\x00\x01\xff"])
def test_what_is_no_frames_is_told(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="which container answers"):
        Unpacker().feed(data)
