"""Inputs that are nearly right: valid messages and bodies with something wrong, from a seed.

Random bytes rarely get past a JSON parser. These mostly do, and are wrong behind it: a field of the
wrong type, a number that fits nowhere, a context that is over, half a UTF-8 character in a name.
The same seed gives the same inputs.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

TEXTS = [
    "Hi.",
    "One, two, three.",
    "a",
    "  ",
    "\u00fcber \u6f22\u5b57 \U0001f600",
    "[word](/w\u025cd/)",
    "x" * 60,
]
VOICES = ["af_heart", "bf_emma", "af_bella(2)+af_heart(1)", "nobody", "../../etc/passwd"]
# As JSON, because some of them are nothing that Python would write.
ODD_VALUES = [
    "null", "true", "false", "0", "-1", "1.5", "-0.0", "NaN", "-Infinity", "1e999", "1e-999",
    "9" * 400, str(2**31), str(2**53 + 1), str(2**63), str(2**64), "-" + "9" * 30,
    '""', '"a"', '"\\u0000"', '"\\ud800"', '"\\udc00x"', '"%s %n {0} ${x}"', '"' + "y" * 3000 + '"',
    "[]", "{}", "[[[]]]", '["a"]', '{"a": 1}', '{"type": "speak"}', "[" * 60 + "]" * 60,
    '{"a":' * 60 + "1" + "}" * 60, "[" + "1," * 500 + "1]", "[" * 20_000,
    # Some depth can be read but no longer written.
    *("[" * depth + "]" * depth for depth in (300, 900, 985, 1500, 3000, 9000)),
]  # fmt: skip
FIELDS = [
    "type", "context_id", "chunk_id", "text", "voice", "speed", "language", "sample_rate",
    "encoding", "timestamps", "markup", "lexicon", "preload", "samples", "from_sample", "id",
    "request_id", "request_timestamp", "format", "stream", "transport", "input", "model",
    "response_format", "stream_format", "__class__", "", "\u0000",
]  # fmt: skip


class Mutator:
    """Makes inputs.

    Args:
        seed: of all that is random.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def frame(self) -> str | bytes:
        """A WebSocket frame, mostly wrong."""
        data = self._damaged(self._json(self._mutated(self._message())))
        if self._random.random() < 0.7:
            return data.decode("utf-8", "replace")
        return data

    def sample_frame(self) -> str | bytes:
        """The same in the AWS sample's vocabulary."""
        fields = {"text": self._one(TEXTS), "request_id": self._one(["r1", "r2"])}
        data = self._damaged(self._json(self._mutated(self._some(fields, self._options()))))
        return data.decode("utf-8", "replace") if self._random.random() < 0.7 else data

    def body(self) -> bytes:
        """A POST's body, in either vocabulary."""
        return self._damaged(self._json(self._mutated(self._post())))

    # --- what is right ---

    def _message(self) -> dict[str, Any]:
        context = {"context_id": self._one(["a", "b", "c", f"c{self._random.randrange(300)}"])}
        makers: list[Callable[[], dict[str, Any]]] = [
            lambda: self._some({"type": "configure"}, self._options() | self._session()),
            lambda: self._some({"type": "speak", **context, **self._speak()}, self._options()),
            lambda: {"type": "window", **context, "samples": self._random.randrange(100_000)},
            lambda: {"type": "end", **context},
            lambda: {"type": "cancel", **context},
            lambda: {"type": "ping", "id": self._random.randrange(9)},
        ]
        if self._random.random() < 0.002:
            return {"type": "close"}
        return self._random.choices(makers, weights=(2, 6, 2, 2, 2, 1))[0]()

    def _speak(self) -> dict[str, Any]:
        return {"chunk_id": self._random.randrange(6), "text": self._one(TEXTS)}

    def _options(self) -> dict[str, Any]:
        return {
            "voice": self._one(VOICES),
            "speed": self._random.uniform(0.4, 2.1),
            "language": self._one(["en-us", "ja", "tlh"]),
            "sample_rate": self._one([8000, 24000, 44100, 1]),
            "encoding": self._one(["pcm_s16le", "pcm_mulaw", "mp3", "opus", "aac"]),
            "timestamps": self._one(["word", "none"]),
            "markup": self._one(["inline", "none"]),
            "from_sample": self._one([0, 1, 5000, 10**9]),
        }

    def _session(self) -> dict[str, Any]:
        return {
            "lexicon": {"en-us": {"word": self._one(["wurd", "/w\u025c\u02d0d/", "", "//"])}},
            "preload": [self._one(TEXTS)],
        }

    def _post(self) -> dict[str, Any]:
        options = self._options()
        if self._random.random() < 0.3:
            fields = {"input": self._one(TEXTS), "voice": self._one(["alloy", "af_heart", {}])}
            options |= {
                "model": "kokoro",
                "response_format": self._one(["mp3", "wav", "pcm", "opus", "flac"]),
                "stream_format": self._one(["audio", "sse"]),
            }
            return self._some(fields, options)
        options |= {
            "format": self._one(["wav", "pcm", "mp3", "opus"]),
            "stream": self._one([True, False]),
            "transport": self._one(["binary", "sse", "frames", "carrier pigeon"]),
            "chunk_id": self._one([0, 1, 2**40]),
            "request_id": self._one(["r-1", "r 1", "\r\nX: y"]),
            "request_timestamp": self._one([0, 1e300, 4e9]),
        }
        return self._some({"text": self._one(TEXTS)}, options)

    # --- and what goes wrong with it ---

    def _mutated(self, fields: dict[str, Any]) -> list[tuple[str, str]]:
        """Names and values as JSON; a name may come twice."""
        pairs = [(name, json.dumps(value)) for name, value in fields.items()]
        for _ in range(self._random.choice((0, 1, 1, 1, 2, 4))):
            kind = self._random.randrange(6)
            at = self._random.randrange(len(pairs) + 1)
            if kind == 0 and pairs:
                pairs.pop(at % len(pairs))
            elif kind == 1:
                pairs.insert(at, (self._one(FIELDS), self._one(ODD_VALUES)))
            elif kind == 2 and pairs:
                pairs.append((pairs[at % len(pairs)][0], self._one(ODD_VALUES)))
            elif pairs:
                name, _ = pairs[at % len(pairs)]
                pairs[at % len(pairs)] = (name, self._one(ODD_VALUES))
        return pairs

    def _json(self, pairs: list[tuple[str, str]]) -> bytes:
        inside = ", ".join(f"{json.dumps(name)}: {value}" for name, value in pairs)
        return ("{" + inside + "}").encode()

    def _damaged(self, data: bytes) -> bytes:
        kind = self._random.randrange(24)
        at = self._random.randrange(len(data) + 1)
        if kind == 0:
            return data[:at]
        if kind == 1:
            return data[:at] + self._random.randbytes(self._random.randrange(1, 5)) + data[at:]
        if kind == 2:
            return data[:at] + b"\xc3" + data[at + 1 :]  # half a character
        if kind == 3:
            return data + data
        if kind == 4:
            return data.decode().encode(self._one(["utf-16", "utf-32", "utf-8-sig"]))
        if kind == 5:
            return self._one([b"", b"\x00", b"[]", b"3", b'"text"', b"null", b"[" * 50_000])
        if kind == 6:
            return self._random.randbytes(self._random.randrange(64))
        return data

    def _some(self, fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
        """The fields and a few of the others."""
        chosen = {name: value for name, value in more.items() if self._random.random() < 0.15}
        return fields | chosen

    def _one(self, choices: list[Any]) -> Any:
        return self._random.choice(choices)
