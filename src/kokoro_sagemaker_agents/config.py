"""The options of a session and of an utterance: names, defaults, checks."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypedDict, get_args

from .errors import InvalidInput
from .protocol import (
    Configure,
    Encoding,
    Markup,
    Ready,
    SpeechOptions,
    Timestamps,
    check_options,
)
from .protocol.options import PLAIN_OPTIONS
from .text import LANGUAGES, SentenceChunker

FirstChunk = Literal["clause", "sentence"]

#: Kokoro's own rate: nothing is resampled.
DEFAULT_SAMPLE_RATE: Final = 24_000
#: Kokoro names its voices by language: the first letter of `af_heart` stands for American English.
_LANGUAGE_OF_VOICE: Final = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "zh",
}


class UtteranceOptions(TypedDict, total=False):
    """What may be chosen for one utterance; what is left out is as the session has it.

    Args:
        voice: A voice's name or a mix, `af_bella(2)+af_sky(1)`.
        speed: 0.5 to 2.0; 1.0 is the voice's own.
        language: Such as `en-us`; by default the voice's own.
        sample_rate: Of the audio, hertz.
        encoding: `pcm_s16le`, `pcm_mulaw`, `pcm_alaw`, `mp3` or `opus`.
        timestamps: `word` for `WordTimestamps` events, `none` for none.
        markup: `inline` if `[word](/ipa/)`, `[pause:0.5s]` and `<break time="0.5s"/>` in the text
            are instructions; `none`, the default, for text that an LLM wrote.
        first_chunk: `clause` lets an utterance begin with part of a sentence, so that speech starts
            sooner; `sentence` does not.
        idle_flush_s: A stall of the text, in seconds, after which a sentence that reads as finished
            is spoken, although the next character could still continue it.
        window_s: How many seconds of audio the server may be ahead of the reader.
    """

    voice: str | None
    speed: float | None
    language: str | None
    sample_rate: int | None
    encoding: Encoding | None
    timestamps: Timestamps | None
    markup: Markup | None
    first_chunk: FirstChunk | None
    idle_flush_s: float | None
    window_s: float | None


class SessionOptions(UtteranceOptions, total=False):
    """What may be chosen for a session: the defaults of its utterances, and more.

    Args:
        lexicon: Language → word → how to say it: a respelling, or IPA between slashes.
        preload: Phrases to have ready, for a server that keeps finished phrases.
        connect_timeout_s: Longest time until the server is connected and ready.
        answer_timeout_s: Longest time that an utterance waits for audio which the server owes it.
        keepalive_s: After so long without a word from the server it is asked whether it is there;
            after as long again without an answer the connection is given up.
        reconnect_s: How long a lost connection may take to be replaced, while utterances wait; 0
            to have them fail at once.
    """

    lexicon: dict[str, dict[str, str]] | None
    preload: tuple[str, ...] | None
    connect_timeout_s: float
    answer_timeout_s: float
    keepalive_s: float
    reconnect_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceConfig:
    """Every option of an utterance decided; see `UtteranceOptions`."""

    voice: str | None = None
    speed: float | None = None
    language: str | None = None
    sample_rate: int = DEFAULT_SAMPLE_RATE
    encoding: Encoding = "pcm_s16le"
    timestamps: Timestamps = "word"
    markup: Markup | None = None
    first_chunk: FirstChunk = "clause"
    idle_flush_s: float = 0.2
    window_s: float = 30.0

    @property
    def chunker_language(self) -> str:
        """The language of the text, as the server would decide: the voice's, if none is given."""
        return self.language or _LANGUAGE_OF_VOICE.get((self.voice or "")[:1], "en-us")

    @property
    def window(self) -> int:
        """`window_s` in samples, at least one: without any credit nothing would ever come."""
        return max(1, round(self.window_s * self.sample_rate))

    def changed(self, options: UtteranceOptions) -> UtteranceConfig:
        """This with some options in place of its own; None changes nothing.

        Raises:
            InvalidInput: a value that no server could take.
            TypeError: an unknown option.
        """
        given = {name: value for name, value in options.items() if value is not None}
        config = replace(self, **given)  # type: ignore[arg-type]  # names and types: the TypedDict
        config.check()
        return config

    def check(self) -> None:
        """Raise `InvalidInput` for a value that no server could take."""
        self.configure()
        if self.first_chunk not in get_args(FirstChunk):
            raise InvalidInput(f"first_chunk {self.first_chunk!r} is neither clause nor sentence")
        if not self.idle_flush_s >= 0:
            raise InvalidInput(f"idle_flush_s must be 0 or more seconds, got {self.idle_flush_s}")
        if not 0 < self.window_s < float("inf"):
            raise InvalidInput(f"window_s must be more than 0 seconds, got {self.window_s}")
        if self.chunker_language.lower() not in LANGUAGES:
            raise InvalidInput(
                f"language {self.language!r} is not one of {', '.join(LANGUAGES)}",
                code="unsupported_language",
            )

    def check_against(self, ready: Ready) -> None:
        """Raise `InvalidInput` for what this server does not offer; voices it checks itself."""
        check_options(SpeechOptions().overridden(self.configure()), ready)

    def configure(self) -> Configure:
        """The options that are the server's business, as its message has them."""
        return Configure(
            voice=self.voice,
            speed=self.speed,
            language=self.language,
            sample_rate=self.sample_rate,
            encoding=self.encoding,
            timestamps=self.timestamps,
            markup=self.markup,
        )

    @property
    def overrides(self) -> dict[str, Any]:
        """The same as the arguments of `ClientProtocol.speak`."""
        return {name: getattr(self, name) for name in PLAIN_OPTIONS}

    def chunker(self) -> SentenceChunker:
        """A fresh chunker for such an utterance."""
        return SentenceChunker(
            self.chunker_language,
            first_chunk=self.first_chunk,
            idle_release_s=self.idle_flush_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """Every option of a session decided; see `SessionOptions`."""

    utterance: UtteranceConfig
    lexicon: dict[str, dict[str, str]] | None = None
    preload: tuple[str, ...] | None = None
    connect_timeout_s: float = 10.0
    answer_timeout_s: float = 60.0
    keepalive_s: float = 20.0
    reconnect_s: float = 15.0

    def configure(self) -> dict[str, Any]:
        """The arguments of `ClientProtocol.configure`."""
        return {**self.utterance.overrides, "lexicon": self.lexicon, "preload": self.preload}

    @classmethod
    def of(cls, options: SessionOptions) -> SessionConfig:
        """The defaults with these options in their place.

        Raises:
            InvalidInput: a value that no server could take.
            TypeError: an unknown option.
        """
        own = {field.name for field in fields(cls)} - {"utterance"}
        rest = {name: value for name, value in options.items() if name not in own}
        utterance = UtteranceConfig().changed(rest)  # type: ignore[arg-type]  # the rest of them
        config = cls(utterance=utterance, **{k: v for k, v in options.items() if k in own})  # type: ignore[arg-type]  # names and types: the TypedDict
        for name in ("connect_timeout_s", "answer_timeout_s", "keepalive_s"):
            if not getattr(config, name) > 0:
                raise InvalidInput(f"{name} must be more than 0 seconds")
        if not config.reconnect_s >= 0:
            raise InvalidInput("reconnect_s must be 0 or more seconds")
        return config
