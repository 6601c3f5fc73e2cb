"""Markup is removed or worded, also when it is cut in two or never closed."""

from collections.abc import Callable

import pytest

from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk

Speak = Callable[..., list[str]]
Chunk = Callable[..., list[TextChunk]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # emphasis
        (
            "**very important. Read it twice.** Thanks.",
            ["very important.", "Read it twice.", "Thanks."],
        ),
        ("***wow*** nice. *She waves* Hello.", ["wow nice.", "She waves Hello."]),
        ("*smiles warmly*\nHello there.", ["smiles warmly", "Hello there."]),
        ("**Note:** do it. _really_ and __do it now__.", ["Note: do it.", "really and do it now."]),
        (
            "The result of 5 * 3 is 15, not 5*4. 2**3 is 8.",
            ["The result of 5 * 3 is 15, not 5*4.", "2**3 is 8."],
        ),
        (
            "Use snake_case, __init__ and _my_var here.",
            ["Use snake_case, __init__ and _my_var here."],
        ),
        ("Price: $5* each. Fill ____ in.", ["Price: $5* each.", "Fill ____ in."]),
        ("~~gone~~ kept. ~5 km.", ["gone kept.", "~5 km."]),
        ("\\*not emphasis\\* here.", ["*not emphasis* here."]),
        # lines
        (
            "# Title\n\nPara without mark\n\n## Next\nText.",
            ["Title", "Para without mark", "Next", "Text."],
        ),
        ("## Step 1. Setup\n\nInstall it.", ["Step 1. Setup", "Install it."]),
        ("Title\n=====\nText.\n\n---\n\nMore.", ["Title", "Text.", "More."]),
        ("- a\n- b\n- [x] c\n", ["a", "b", "c"]),
        ("* one\n* two\n  * sub\n+ three", ["one", "two", "sub", "three"]),
        ("1. First item\n2. Second item\n", ["1. First item", "2. Second item"]),
        ("Here:\n\n1. **Bold**: text.\n2. More.", ["Here:", "1. Bold: text.", "2. More."]),
        ("> quoted text. More.\n> Again\nEnd.", ["quoted text.", "More.", "Again", "End."]),
        ("#hashtag is text. # also", ["#hashtag is text.", "# also"]),
        ("-5 degrees. - dash", ["-5 degrees.", "- dash"]),
        # code
        ("Run this. ```sh\npip install x. Then y\n``` Then done.", ["Run this.", "Then done."]),
        ("Code:\n```python\nprint('a. b')\n```\nDone.", ["Code:", "Done."]),
        ("~~~\ncode. More\n~~~\nText.", ["Text."]),
        ("```\nnever closed. It is code.", []),
        ("Use `npm run build.` It works.", ["Use npm run build.", "It works."]),
        ("Run `a.b. C` now. Use ``x`y`` too.", ["Run a.b. C now.", "Use x`y too."]),
        ("A stray ` tick. it`s fine.", ["A stray ` tick.", "it`s fine."]),
        # links and brackets
        ("See [the **docs**](https://x.y/z_(a)?q=1). Next.", ["See the docs.", "Next."]),
        ("![a cat](cat.png) Look. Oui ! Non.", ["a cat Look.", "Oui !", "Non."]),
        ("Say [Kokoro](/kˈOkəɹO/) now. Good.", ["Say [Kokoro](/kˈOkəɹO/) now.", "Good."]),
        ("[pause:0.5s] Next one. [laughs] Fun.", ["[pause:0.5s] Next one.", "[laughs] Fun."]),
        ("A fact.[1] It is[^2] so.", ["A fact.[1]", "It is so."]),
        ("[not a link. It ends", ["[not a link.", "It ends"]),
        ("<https://x.y/z>. Next.", ["https://x.y/z.", "Next."]),
        # tags
        ("<think>Hmm. 2+2.</think>Four. <thinking>no", ["Four."]),
        ("Let me see. <THINK>x</think>Done.", ["Let me see.", "Done."]),
        ('<think>a</think><tool_call>{"a": 1.5}</tool_call>It is three.', ["It is three."]),
        ("[THINK]no[/THINK]Yes. <|im_end|>", ["Yes."]),
        (
            '<speed ratio="1.05"/>Hello. <spell>a.b</spell> Go.',
            ['<speed ratio="1.05"/>Hello.', "<spell>a.b</spell> Go."],
        ),
        ("<b>Hi.</b><br/>You <i>two</i>.", ["Hi.", "You two."]),
        ("<!-- a note. --> Hello.", ["Hello."]),
        ("5 < 10 and <3 you. If a<b then c>d.", ["5 < 10 and <3 you.", "If a<b then c>d."]),
        # tables
        (
            "| A | B |\n|---|:-:|\n| 1 | two *words* |\n| | x |\nAfter.",
            ["A, B", "1, two words", "x", "After."],
        ),
        ("a | b is text.", ["a | b is text."]),
        # characters
        ("AT&amp;T &lt;3 R&D; x &#65; &nbsp;y.", ["AT&T <3 R&D; x A \u00a0y."]),
        (
            "Hello 👋🏽! I 💛 it. Flag 🇺🇸. 👨\u200d👩\u200d👧 One 1\ufe0f\u20e3.",
            ["Hello!", "I it.", "Flag.", "One 1."],
        ),
        (
            "Sure thing 😊 How can I help? I ❤️ New York.",
            ["Sure thing", "How can I help?", "I New York."],
        ),
        ("Wow!🎉🎉 Great 👍🏽. Bye 👋\nNow", ["Wow!", "Great.", "Bye", "Now"]),
        ("क्\u200dष ठीक है।", ["क्\u200dष ठीक है।"]),
        ("box ┌──┐ here.", ["box here."]),
        ("So\u00adft\u200b and\x00NUL\ufdd0x.", ["Soft and NUL x."]),
    ],
)
def test_markup(text: str, expected: list[str], speak: Speak) -> None:
    assert speak(text) == expected


@pytest.mark.parametrize("markup", ["*", "_", "<", "`", "[", "&", "~", "|", "\\"])
def test_a_stray_character_does_not_hold_the_stream(markup: str) -> None:
    chunker = SentenceChunker(first_chunk="sentence")
    said = []
    for character in f"Here is {markup} and then it goes on. " + "Next one is here. " * 12:
        said += [chunk.spoken for chunk in chunker.feed(character)]
    assert said[0] == f"Here is {markup} and then it goes on."
    assert said[1:].count("Next one is here.") >= 10


def test_lone_surrogates_become_encodable(speak: Speak) -> None:
    assert speak(f"Odd {chr(0xD83D)} thing.") == ["Odd \ufffd thing."]


def test_code_can_be_announced(speak: Speak, chunk: Chunk) -> None:
    text = "Run:\n```py\nx=1\n```\nDone."
    assert speak(text, code="announce") == ["Run:", "There is a code example here.", "Done."]
    assert speak(text, "fr", code="announce")[1] == "Il y a un exemple de code ici."
    notice = chunk(text, code="announce")[1]
    start, end = notice.source_range(0, 5)
    assert start == end == text.index("```py")


def test_tables_can_be_dropped(speak: Speak) -> None:
    assert speak("See.\n| a. b | c |\n|--|--|\n| d | e |\nDone.", tables="drop") == [
        "See.",
        "Done.",
    ]


def test_tags_can_be_dropped(speak: Speak) -> None:
    assert speak('<speed r="1.5"/>Hi. <break/> So.', tags="drop") == ["Hi.", "So."]


def test_emoji_can_be_named(speak: Speak) -> None:
    assert speak("Great job! 🎉 Keep going. I like 🍕.", emoji="name") == [
        "Great job! party popper",
        "Keep going.",
        "I like slice of pizza.",
    ]
    assert speak("Up👍🏽up 🇺🇸 👨\u200d👩 ok.", emoji="name") == [
        "Up thumbs up sign up flag man ok."
    ]


def test_reasoning_is_in_chunks_of_its_own(chunk: Chunk) -> None:
    text = "Hello there. <think>Why? Because.</think> I see."
    kinds = [(part.kind, part.text) for part in chunk(text)]
    assert kinds == [
        ("sentence", "Hello there."),
        ("silent", " <think>Why? Because.</think>"),
        ("sentence", " I see."),
    ]
