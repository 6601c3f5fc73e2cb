"""How a chunk is to be spoken: session defaults with a `speak`'s own choices on top."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput

from .codec import decode_query
from .fields import RATES_OPUS_LACKS, Encoding, ErrorCode, Markup, Timestamps, shown
from .messages import Configure, Limits, Ready, Speak

PLAIN_OPTIONS = ("voice", "speed", "language", "sample_rate", "encoding", "timestamps", "markup")


class SpeechOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Every option decided.

    Args:
        voice: a voice's name or a mix of several.
        speed: 0.5 to 2.0; 1.0 is the voice's own.
        language: a tag such as `en-us`; None is the voice's own language.
        sample_rate: of the audio, in hertz.
        encoding: of the audio frames.
        timestamps: `word` or `none`.
        markup: `inline` where the text may hold pronunciations and pauses, else `none`.
    """

    voice: str = "af_heart"
    speed: float = 1.0
    language: str | None = None
    sample_rate: int = 24000  # Kokoro's own rate: no resampling
    encoding: Encoding = "pcm_s16le"
    timestamps: Timestamps = "none"
    markup: Markup = "none"

    def overridden(self, by: Configure | Speak) -> "SpeechOptions":
        """These options with those that the message sets in their place."""
        changes = {
            name: value for name in PLAIN_OPTIONS if (value := getattr(by, name)) is not None
        }
        return msgspec.structs.replace(self, **changes) if changes else self


def check_options(options: SpeechOptions, ready: Ready) -> None:
    """Raise `InvalidInput` for what the server that announced `ready` does not offer.

    Voices are not looked at: a mix or an alias is in no list. That is the server's own check.
    """
    if options.language is not None and options.language not in ready.languages:
        raise InvalidInput(
            f"language {shown(options.language)} is not one of {', '.join(ready.languages)}",
            code=ErrorCode.UNSUPPORTED_LANGUAGE,
        )
    if options.encoding not in ready.encodings:
        raise InvalidInput(
            f"encoding {options.encoding} is not one of {', '.join(ready.encodings)} here",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )
    rates = [
        rate
        for rate in ready.sample_rates
        if options.encoding != "opus" or rate not in RATES_OPUS_LACKS
    ]
    if options.sample_rate not in rates:
        raise InvalidInput(
            f"sample_rate {options.sample_rate} is not one of {', '.join(map(str, rates))},"
            f" which {options.encoding} has here",
            code=ErrorCode.UNSUPPORTED_SAMPLE_RATE,
        )


def check_lexicon(lexicon: Mapping[str, Mapping[str, str]], ready: Ready) -> None:
    """Raise `InvalidInput` (`invalid_lexicon`) for an unknown language or one that is too large."""
    unknown = [language for language in lexicon if language not in ready.languages]
    if unknown:
        raise InvalidInput(
            f"lexicon: language {shown(unknown[0])} is not one of {', '.join(ready.languages)}",
            code=ErrorCode.INVALID_LEXICON,
        )
    limits = ready.limits
    if sum(map(len, lexicon.values())) > limits.lexicon_entries or any(
        max(len(word), len(said)) > limits.lexicon_chars
        for words in lexicon.values()
        for word, said in words.items()
    ):
        raise InvalidInput(
            f"lexicon: at most {limits.lexicon_entries} words, each word and each pronunciation"
            f" at most {limits.lexicon_chars} characters",
            code=ErrorCode.INVALID_LEXICON,
        )


def check_preload(phrases: Sequence[str], limits: Limits) -> None:
    """Raise `InvalidInput` (`invalid_preload`) for too many phrases or one that is too long."""
    if len(phrases) > limits.preload_phrases or any(
        len(phrase) > limits.text_chars for phrase in phrases
    ):
        raise InvalidInput(
            f"preload: at most {limits.preload_phrases} phrases, each at most"
            f" {limits.text_chars} characters",
            code=ErrorCode.INVALID_PRELOAD,
        )


def options_from_query(query: str | Mapping[str, str]) -> Configure:
    """The `configure` that a connection's query string stands for, `voice=af_sky&speed=1.2`.

    Only the plain options; other parameters are left to others. Of a repeated one the last counts.

    Raises:
        InvalidInput: an option's value cannot be used; `code` says which kind.
    """
    given = dict(parse_qsl(query, keep_blank_values=True)) if isinstance(query, str) else query
    return decode_query({name: given[name] for name in PLAIN_OPTIONS if name in given})
