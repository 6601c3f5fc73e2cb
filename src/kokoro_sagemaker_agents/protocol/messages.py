"""The vocabulary: every message of wire protocol version 1.

Two unions, told apart by the JSON field `type`. Everything else in this package is written in terms
of them; nothing here knows about connections, states or which side we are.

A client message checks itself when it is made, whether by a caller or by the decoder, so an invalid
one exists nowhere: a bad field raises `InvalidInput` with the wire's code for it. What only a
particular server can know (which voices it has, its limits) is checked by that server. Server
messages are made by our own state machine and are not checked beyond their types, so that a newer
server may add error codes or encodings.

Unknown fields are ignored by both sides, so versions can grow; unset options are left out.

Sample counts and positions are integers at the chunk's own sample rate. Times in `*_ms` are
milliseconds; `duration`, `start` and `end` are seconds. Integers stay under 2**53, which is as far
as JSON numbers are exact in every language (RFC 8259, section 6).
"""

from typing import Annotated, Final, TypeAlias

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput

from .fields import (
    ENCODINGS,
    SAMPLE_RATES,
    Count,
    Encoding,
    ErrorCode,
    Markup,
    Timestamps,
    check_context_id,
    check_count,
    check_language,
    check_sample_rate,
    check_speed,
    check_voice,
    scrub,
    shown,
)

PROTOCOL_VERSION: Final = 1


class _Message(
    msgspec.Struct, tag_field="type", frozen=True, omit_defaults=True, forbid_unknown_fields=False
):
    """What all messages share: frozen, tagged by `type`, unset options left out."""


# --- what clients send -----------------------------------------------------------------------


class _Options(_Message, frozen=True):
    """The plain options of `configure` and `speak`; None leaves a value as it is."""

    voice: str | None = None
    speed: float | None = None
    language: str | None = None
    sample_rate: int | None = None
    encoding: Encoding | None = None
    timestamps: Timestamps | None = None
    markup: Markup | None = None

    def __post_init__(self) -> None:
        if self.voice is not None:
            check_voice(self.voice)
        if self.speed is not None:
            check_speed(self.speed)
        if self.language is not None:
            check_language(self.language)
        if self.sample_rate is not None:
            check_sample_rate(self.sample_rate)
        if self.encoding is not None and self.encoding not in ENCODINGS:
            raise InvalidInput(
                f"encoding {shown(self.encoding)} is not one of {', '.join(ENCODINGS)}",
                code=ErrorCode.UNSUPPORTED_ENCODING,
            )
        if self.timestamps is not None and self.timestamps not in ("none", "word"):
            raise InvalidInput(f"timestamps {shown(self.timestamps)} is neither none nor word")
        if self.markup is not None and self.markup not in ("none", "inline"):
            raise InvalidInput(f"markup {shown(self.markup)} is neither none nor inline")


class Configure(_Options, tag="configure", frozen=True, kw_only=True):
    """Session defaults, for the `speak`s that follow. Takes effect whole or not at all.

    Args:
        voice: a voice's name or a mix, `af_bella(2)+af_sky(1)`; at most 200 characters.
        speed: 0.5 to 2.0; 1.0 is the voice's own.
        language: a tag such as `en-us`; unset, the voice's own language.
        sample_rate: of the audio, in hertz; one of `SAMPLE_RATES`.
        encoding: of the audio frames; one of `ENCODINGS`.
        timestamps: `word` for `word_timestamps`, `none` for none.
        markup: `inline` if `[word](/ipa/)`, `[pause:0.5s]` and `<break time="0.5s"/>` in the text
            are instructions. With `none`, as it is for text that an LLM wrote, the word is said as
            written and the pauses are left out.
        lexicon: language → word → how to say it (a respelling, or IPA between slashes); replaces
            the session's earlier lexicon.
        preload: phrases to have ready, for a server that keeps finished phrases.
    """

    lexicon: dict[str, dict[str, str]] | None = None
    preload: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for language, words in (self.lexicon or {}).items():
            check_language(language)
            for pair in words.items():
                if not all(part and part.isprintable() for part in pair):
                    raise InvalidInput(
                        f"lexicon: {shown(pair[0])}: {shown(pair[1])} is empty or not printable;"
                        " give a word and how to say it",
                        code=ErrorCode.INVALID_LEXICON,
                    )
        if self.preload is not None:
            msgspec.structs.force_setattr(self, "preload", tuple(map(scrub, self.preload)))


class Speak(_Options, tag="speak", frozen=True, kw_only=True):
    """Say this text. Answered by exactly one `chunk_done` or `error`, or by its context's end.

    Lone surrogates in `text` become U+FFFD, one for one (they do not exist in UTF-8), so offsets
    into it stay right.

    Args:
        context_id: the context it belongs to; 1 to 128 printable ASCII characters without spaces.
        chunk_id: the client's counter; grows within the context, gaps allowed.
        text: what to say.
        from_sample: leave out this many samples at the start (they arrived on a lost connection).
    """

    context_id: str
    chunk_id: Count
    text: str
    from_sample: Count = 0

    def __post_init__(self) -> None:
        check_context_id(self.context_id)
        check_count("chunk_id", self.chunk_id)
        check_count("from_sample", self.from_sample)
        super().__post_init__()
        clean = scrub(self.text)
        if clean is not self.text:
            msgspec.structs.force_setattr(self, "text", clean)


class Window(_Message, tag="window", frozen=True, kw_only=True):
    """Credit: the server may send this many more samples of the context.

    A context without any `window` is unlimited. The first one opens an account with `samples` in
    it, later ones add to that, and audio sent takes from it (a piece that has begun is finished).
    While it is used up, the context gives up the model to others.
    """

    context_id: str
    samples: Count

    def __post_init__(self) -> None:
        check_context_id(self.context_id)
        check_count("samples", self.samples)


class End(_Message, tag="end", frozen=True, kw_only=True):
    """No more text for this context; `context_done` follows its last chunk. Repeats are ignored."""

    context_id: str

    def __post_init__(self) -> None:
        check_context_id(self.context_id)


class Cancel(_Message, tag="cancel", frozen=True, kw_only=True):
    """Drop what is queued of this context and stop what is running (barge-in)."""

    context_id: str

    def __post_init__(self) -> None:
        check_context_id(self.context_id)


class Ping(_Message, tag="ping", frozen=True, kw_only=True):
    """Are you there? `id`, if given, comes back in the `pong`."""

    id: Count | None = None

    def __post_init__(self) -> None:
        if self.id is not None:
            check_count("id", self.id)


class Close(_Message, tag="close", frozen=True):
    """Goodbye: everything unfinished is dropped and the server closes the connection."""


# --- what servers send -----------------------------------------------------------------------


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one connection may ask of a server; announced in `ready`, all of it on the wire.

    Args:
        text_chars: characters of one `speak` (20 000 are some 20 minutes of speech).
        contexts: contexts open at once (room for 100 utterances over one session).
        queued_chunks: unanswered `speak`s of one context.
        queued_chars: characters of all unanswered `speak`s of the connection.
        lexicon_entries: words in a session's lexicon, all languages together.
        lexicon_chars: characters of one of its words or pronunciations.
        preload_phrases: phrases in one `configure`; each at most `text_chars`.
        frame_bytes: largest frame the server reads. 100 000 characters, each written as a
            surrogate pair of escapes, are 1.2 MB: such a `speak` still gets its `text_too_long`.
    """

    text_chars: int = 20_000
    contexts: int = 128
    queued_chunks: int = 128
    queued_chars: int = 1_000_000
    lexicon_entries: int = 1_000
    lexicon_chars: int = 100
    preload_phrases: int = 32
    frame_bytes: int = 2 * 1024 * 1024


class Ready(_Message, tag="ready", frozen=True, kw_only=True, omit_defaults=False):
    """The server's first message: who it is and what it can do."""

    protocol: int = PROTOCOL_VERSION
    instance_id: str
    model: str
    engine: str
    voices: tuple[str, ...]
    languages: tuple[str, ...]
    sample_rates: tuple[int, ...] = SAMPLE_RATES
    encodings: tuple[str, ...] = ENCODINGS
    limits: Limits = Limits()


class ChunkStarted(_Message, tag="chunk_started", frozen=True, kw_only=True):
    """The binary frames that follow are this chunk's audio, from `first_sample` on."""

    context_id: str
    chunk_id: Count
    sample_rate: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    encoding: str
    first_sample: Count


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A spoken word: when (seconds from the chunk's first sample) and where in the `speak`'s text.

    `char_start` and `char_end` count Unicode code points, as Python's string indices do.
    """

    text: str
    start: float
    end: float
    char_start: Count
    char_end: Count


class WordTimestamps(_Message, tag="word_timestamps", frozen=True, kw_only=True):
    """Word times of a chunk. They come before the audio they describe, possibly in parts."""

    context_id: str
    chunk_id: Count
    words: tuple[Word, ...]


class ChunkDone(_Message, tag="chunk_done", frozen=True, kw_only=True):
    """The chunk was spoken to its end.

    Args:
        samples: length of the whole chunk, the part left out by `from_sample` included.
        duration: the same in seconds.
        queue_ms: waiting before the model took it.
        g2p_ms: turning text into phonemes.
        synthesis_ms: on the model.
        warnings: what was not speakable and how it was handled.
    """

    context_id: str
    chunk_id: Count
    samples: Count
    duration: float
    queue_ms: float = 0.0
    g2p_ms: float = 0.0
    synthesis_ms: float = 0.0
    warnings: tuple[str, ...] = ()


class ContextDone(_Message, tag="context_done", frozen=True, kw_only=True):
    """Everything asked of this context was answered. Its last frame.

    Args:
        chunks: how many ended with `chunk_done`.
        samples: of those chunks, each at its own rate.
        duration: of those chunks, seconds.
    """

    context_id: str
    chunks: Count
    samples: Count
    duration: float


class ContextCancelled(_Message, tag="context_cancelled", frozen=True, kw_only=True):
    """The context was cancelled; what was unanswered stays so. Its last frame.

    Args:
        chunks: how many ended with `chunk_done`.
        samples: of those chunks and of the one that was being spoken, as far as it got.
        duration: the same in seconds.
    """

    context_id: str
    chunks: Count
    samples: Count
    duration: float


class Error(_Message, tag="error", frozen=True, kw_only=True):
    """Something was refused or failed; the session goes on.

    With a `chunk_id` it is the answer to that `speak` (except `chunk_id_reused`, which answers the
    second `speak` of that id while the first goes on). Without a `context_id` it is about no
    context that is still open.
    """

    code: str
    message: str
    retryable: bool
    context_id: str | None = None
    chunk_id: Count | None = None


class Pong(_Message, tag="pong", frozen=True, kw_only=True):
    """Answers `ping`, with its `id` if it had one."""

    id: Count | None = None


class Draining(_Message, tag="draining", frozen=True, kw_only=True):
    """The server will close soon: open a new session. `deadline_s`: in how many seconds, if known.

    Contexts already open go on until then.
    """

    deadline_s: float | None = None


class ServerWarning(_Message, tag="warning", frozen=True, kw_only=True):
    """Something worth knowing that failed nothing."""

    message: str
    context_id: str | None = None
    chunk_id: Count | None = None


ClientMessage: TypeAlias = Configure | Speak | Window | End | Cancel | Ping | Close
ServerMessage: TypeAlias = (
    Ready
    | ChunkStarted
    | WordTimestamps
    | ChunkDone
    | ContextDone
    | ContextCancelled
    | Error
    | Pong
    | Draining
    | ServerWarning
)
