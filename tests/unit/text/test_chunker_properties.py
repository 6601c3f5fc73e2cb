"""What holds for any text and any way of cutting it into tokens."""

import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker, TextChunk

Run = Callable[..., list[TextChunk]]

WORDS = str.split(
    """
    Hello world Dr. Mr. e.g. U.S. etc. a.m. No. St. 5 3.14 1990 I www.x.com a@b.co foo.Bar
    http://a.b/c?d=e __init__ こんにちは の て 世界 你好 नमस्ते है é é ß ٣
    """
)
MARKS = list(".,;:!?…—()[]{}\"'“”«»「」《》。！、।¿؟*_`<>&|~\\#-=•/")
MARKUP = str.split(
    """
    ... ``` ```py ~~~ ** __ ~~ \\* ![ ]( <think> </think> <tool_call> <b> </b> <s a="1.5"/> <!--
    --> <|im_end|> ](http://x.y/z) [1] [^2] [pause:0.5s] [THINK] [/THINK] &amp; &#65;
    """
)
LINES = ["\n", "\n\n", "\r\n", "# ", "- ", "* ", "> ", "1. ", "2) ", "a. ", "b. ", "Step 1. "]
LINES += ["---\n", "===\n", "| a | b |\n", "|---|\n", "Mr. ", ". ", ", ", "? ", "I "]
ODD = ["🎉", "👨\u200d👩", "\u200d", "\ufe0f", "🇺🇸", "\u200b", "\x00", "\ufdd0", "\ufdd1x\ufdd2"]
ODD += [chr(0xD800), "\t", " ", "   ", "\u00a0", "\u202f", "a" * 60, "word " * 30]


def cpu_s(work: Callable[[], object], attempts: int = 3) -> float:
    """The least of a few measurements: other load on the machine, and what the whole test run
    has left to the garbage collector, only ever add."""
    least_s = float("inf")
    for _ in range(attempts):
        gc.collect()
        gc.disable()
        try:
            start_s = time.process_time()
            work()
            least_s = min(least_s, time.process_time() - start_s)
        finally:
            gc.enable()
    return least_s


FRAGMENTS = st.sampled_from([*WORDS, *MARKS, *MARKUP, *LINES, *ODD])
TEXTS = st.one_of(st.lists(FRAGMENTS, max_size=40).map("".join), st.text(max_size=200))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "first_chunk": st.sampled_from(["clause", "sentence"]),
        "max_phonemes": st.sampled_from([40, 120, 400, 1e9]),
        "code": st.sampled_from(["drop", "announce"]),
        "tables": st.sampled_from(["rows", "drop"]),
        "tags": st.sampled_from(["keep", "drop"]),
    },
)
FAST = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cut_texts(draw: st.DrawFn) -> tuple[str, list[str]]:
    text = draw(TEXTS)
    tokens, start = [], 0
    while start < len(text):
        length = draw(st.integers(1, 12))
        tokens.append(text[start : start + length])
        start += length
    return text, tokens


@FAST
@given(cut=cut_texts(), language=st.sampled_from(LANGUAGES), options=OPTIONS)
def test_tokens_do_not_matter(
    run: Run, cut: tuple[str, list[str]], language: str, options: dict[str, object]
) -> None:
    text, tokens = cut
    whole = run(text, [text], language, **options)
    assert run(text, tokens, language, **options) == whole
    assert run(text, list(text), language, **options) == whole


@FAST
@given(text=TEXTS, language=st.sampled_from(LANGUAGES), options=OPTIONS)
def test_slices_are_the_input_and_spans_point_into_it(
    run: Run, text: str, language: str, options: dict[str, object]
) -> None:
    position = 0
    for chunk in run(text, list(text), language, **options):
        assert (chunk.start, chunk.end) == (position, position + len(chunk.text))
        assert chunk.text == text[chunk.start : chunk.end]
        position = chunk.end
        check_spoken(chunk)
        check_spans(chunk, text)
    assert position == len(text)


def check_spoken(chunk: TextChunk) -> None:
    assert chunk.spoken == chunk.spoken.strip()
    assert (chunk.kind == "silent") == (chunk.spoken == "")
    assert not chunk.spoken or any(map(str.isalnum, chunk.spoken))
    assert chunk.spoken.encode() or chunk.kind == "silent"  # no lone surrogates
    assert not set(chunk.spoken) & set("\n\r\x00\ufdd0\ufdd1\ufdd2\ufdd3")


def check_spans(chunk: TextChunk, text: str) -> None:
    spoken_at, source_at = 0, chunk.start
    for span in chunk.spans:
        assert span.spoken_start == spoken_at
        assert source_at <= span.start <= span.end <= chunk.end
        spoken_at, source_at = span.spoken_end, span.end
        said = chunk.spoken[span.spoken_start : span.spoken_end]
        source = text[span.start : span.end]
        if len(said) == len(source) > 1:
            differing = [pair for pair in zip(said, source, strict=True) if pair[0] != pair[1]]
            assert not any(pair[0].isalnum() for pair in differing)
    assert spoken_at == len(chunk.spoken)


@FAST
@given(text=st.lists(FRAGMENTS, max_size=60).map("".join), language=st.sampled_from(LANGUAGES))
def test_what_is_held_is_bounded(text: str, language: str) -> None:
    chunker = SentenceChunker(language, first_chunk="sentence")
    longest = 0
    for character in text * 3:
        chunker.feed(character)
        longest = max(longest, len(chunker.pending))
    # 400 phonemes of the language with the fewest per character, and the most that is dropped
    # inside one sentence (an HTML comment that nobody closes, a very long address).
    assert longest <= 400 / 1.24 + 2048


ENDLESS = str.split(
    """
    a.b.c.d.e.f_ e.g._this_ Dr._Mr._ [ ` * _ < <a_ & ( " ... ! 。「 \n _ 🎉 ``` <think> 1._ |_ -_
    https://a.b/c? \ufe0f [a]( \\ Hello_🎉 He_said_"no._ (see_fig._ 「はい
    """
)


@pytest.mark.parametrize("unit", ["and so it went on and on with no end in sight ", *ENDLESS])
def test_time_is_linear(unit: str) -> None:
    unit = unit.replace("_", " ")

    def chunk(length: int) -> None:
        text = (unit * length)[:length]
        chunker = SentenceChunker(max_phonemes=1e9)
        for i in range(0, length, 4):
            chunker.feed(text[i : i + 4])
        chunker.flush()

    short = cpu_s(lambda: chunk(2_000))
    long = cpu_s(lambda: chunk(16_000))
    # 8 times the text: quadratic work would take 64 times as long.
    assert long < 24 * short + 0.01


@pytest.mark.parametrize(
    "unit", ["🎉", "\u200b", "*****", " ", "\n", "\x00", "[x](" + "u" * 50, "[x](y)"]
)
def test_dropped_source_is_not_collected(unit: str) -> None:
    chunker = SentenceChunker()
    chunker.feed("Hello there")
    for _ in range(20_000 // len(unit)):
        chunker.feed(unit)
        assert len(chunker.pending) <= 2048 + 1024


def test_a_huge_token_costs_what_its_pieces_cost() -> None:
    text = "This is a sentence of **ordinary** length, more or less. " * 2_000

    def whole() -> list[TextChunk]:
        return SentenceChunker().feed(text)

    def pieces() -> list[TextChunk]:
        chunker = SentenceChunker()
        starts = range(0, len(text), 100)
        return [chunk for i in starts for chunk in chunker.feed(text[i : i + 100])]

    assert whole() == pieces()
    # About the same; work that grew with the square of the token would be 1 000 times as much.
    assert cpu_s(whole) < 10 * cpu_s(pieces)
