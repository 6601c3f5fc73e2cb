"""Where sentences end. A bar stands for the boundary between two chunks."""

from collections.abc import Callable

import pytest

Speak = Callable[..., list[str]]

ENGLISH = """
# numbers
The price is $19.99. | Buy now.
1,000,000 people came. | It was full.
At 3.30 p.m. we left.
The server is at 192.168.0.1. | Ping it.
Section 2.1.3. covers that.
The value is .5 today. | Fine.
Use 10.0.0.0/8. | It works.
We need 3. | Then 4.
I run Windows 11. | It works.
It grew 3.5x. | Costs fell 3%. | He is 2nd.
The CPU is at 3.50 GHz now. | Fan noise is low. | All systems normal.
Version v1.0.0 is installed. | Use it.
Dinner is at 6 p.m. today. | Bye.
Body heat is 98.6°F, which is normal.
It costs $3.14.
That will be 3.14. | Thank you!
My birthday is Jan 1, 1980. | Another sentence.
Call 411. | Bye.
I was there on 3. Oktober with friends. | It rained.
# abbreviations
Mr. and Mrs. Smith met Dr. Lee, e.g. on St. James St. in the U.S. | They left.
Rev. Dr. King spoke. | Lt. Col. Lee left.
I love the U.S.A. | Next one is the U.K. | However, it rains.
The U.S. President met the E.U. Commission.
She lives on Main St. | It is quiet. | St. Louis is far.
Meet me at 5th Ave. | Then we go.
He lives in Washington, D.C. | It is nice.
He works at Apple Inc. in California. | She works at Apple Inc. | They know.
He said no. | Then he left. | No. | Really. | No. 5 is alive.
Is it? | No. | I don't think so.
Jan. 3 is fine. | The cat sat. | The dog ran. | On Sat. we rest.
The meeting is at 10 a.m. EST. | Bring it at 9 A.M. | The end.
At 5 a.m. Mr. Smith left. | He left at 6 p.m. | Mr. Smith is here.
Is it 5 p.m.? | Yes.
Meet at 9 a.m., or 10 a.m. sharp.
J.K. Rowling and J. R. R. Tolkien wrote. | They were British.
It is you and I. | Did you see Albert I. Jones?
Take vitamin C. | Take two. | Plan B. | It works.
See Fig. A and talk to J. Smith. | Vol. I is out. | Buy 5 oz. | I need it.
He earned his Ph.D. | She was proud. | He has an M.A. in art.
Pens, etc. are here. | We sell pens, etc. | Come in.
Roe v. Wade was big. | Smith vs. Jones is on.
P.S. I love you. | N.B. This counts.
He is 6 ft. tall. | It is 5 ft. | The wall is 3 in. thick. | Come in. | Sit down.
Approx. 5 km. | Then turn left.
Dr. Lee (b. 1950) came. | See pp. 5-6. | Cf. Fig. 3. | Done.
The F.B.I. and the C.I.A. agreed. | He joined the F.B.I.
# marks
What?! | No way! | Stop!!! | Do not move.
I was at Yahoo! in 2005. | Wow!
Well... maybe. | Fine... I think. | Hmm... | Right.
Hm… | Okay… | Fine.
I never meant that.... | She left.
First; second; third.
Note: the door is open. | Wait—what?
Hello World. | How are you?
# quotes and brackets
He said: “Go.” | Then he left. | "Stop!" he cried. | He ran.
He slept. | "Are you up?" she asked.
She said, 'Stop right there.' before leaving.
He said "Dr. Smith is here." | Then he left.
(See below.) | Next one.
(Explore these until you say done.)
The tool (see. section 4) is good. | [Note this.] | Next [...] one.
I'm 5'10". | She is taller.
Did he ask "Why?" and leave? | Yes.
# addresses
Email john.doe@example.com. | Thanks! | Contact a@b.co. | Bye.
See https://example.com/a?b=c&d=e.f. | Then https://x.org/?q=1! | Wow.
Open main.py. | Then index.html. | Node.js is fine, ASP.NET too.
Open C:\\Users\\me\\a.txt. | Then go.
Follow @user.name there. | Use #tag. | OK.
# no blank
Perfect, 12345. | Let me check.
See foo.Bar() and Console.WriteLine now.
# lists on one line
1. First | 2. Second | 3. Third
1.) The first item. | 2.) The second item.
a. The first item | b. The second item
• 9. The first item | • 10. The second item
A. B. C.
Step 1. Open the app. | Step 2. Press start.
# short
Yes. | No. | Maybe.
OK. | OK. | OK.
"""

OTHERS = """
# es
¿Qué? | ¡No! | El Sr. García vive en la Av. 5 de EE. UU. | Vive bien.
Vea la pág. 5. | Compré pan, leche, etc. | Luego volví. | Ud. es amable.
Cuesta 3,50 €. | Vale. | El art. 5 dice no. | Son aprox. 20. | Bien.
# fr
M. Dupont et Mme. Martin arrivent. | Il est 10 h. | Il part.
Voir p. ex. la page. | Et puis ? | Oui ! | C’est ça.
Il dit : « Non. » | Elle part. | « Ça va ? » demanda-t-elle.
# it
Il Sig. Rossi è qui. | La Dott.ssa Bianchi no. | Ecco l'ing. Verdi. | Bene.
Ad es. questo. | Pane, latte, ecc. | Poi torno.
# pt-br
O Sr. Silva chegou. | A Profa. Ana mora na R. Augusta, n.º 10. | É perto.
A Dra. Ana chegou. | Ela é do Depto. de Física.
# de
Das kostet 3,50 €. | Gut. | Am 3. Oktober 2024 kommt Prof. Dr. Müller.
Wir nehmen z. B. das Auto. | Wasser, Saft usw. | Dann gehen wir.
Im 19. Jahrhundert war es so. | Das war 1990. | Danach kam Nr. 5.
Er sagte: „Ja.“ | Dann ging er.
# zh
你好。 | 今天怎么样？ | 很好！
请看《你好！世界》这本书。 | 今天是3.14。 | 好的！
真的吗？！ | 太好了！ | 等等……我想想。 | 是吗? | 是的.
# ja
「はい。」と言った。 | 『うん。』 | そうです。
「はい。行きます。」と言った。 | １２．５です。 | そうか…。 | はい。
# hi
नमस्ते। | आप कैसे हैं? | यह सही है। | वह गलत है।
डॉ. शर्मा आएंगे। | कीमत 3.5 लाख है। | ए. पी. जे. अब्दुल आए।
यह ठीक है. | वह भी ठीक है.
"""


def table(text: str) -> list[tuple[str, str]]:
    rows, heading = [], ""
    for line in text.strip().splitlines():
        if line.startswith("# "):
            heading = line[2:]
        else:
            rows.append((heading, line))
    return rows


@pytest.mark.parametrize(("kind", "line"), table(ENGLISH))
def test_english(kind: str, line: str, speak: Speak) -> None:
    expected = line.split(" | ")
    assert speak(" ".join(expected)) == expected


@pytest.mark.parametrize(("language", "line"), table(OTHERS))
def test_other_languages(language: str, line: str, speak: Speak) -> None:
    expected = line.split(" | ")
    blank = "" if language in ("zh", "ja") else " "
    assert speak(blank.join(expected), language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Great, thanks.And what's the cost?", ["Great, thanks.", "And what's the cost?"]),
        ("Perfect, 12345.Let me check.", ["Perfect, 12345.", "Let me check."]),
        ("Full name?What else. OK.", ["Full name?", "What else.", "OK."]),
        ("Hm…Okay…Fine.", ["Hm…", "Okay…", "Fine."]),
        ("यह सही है।वह गलत है।", ["यह सही है।", "वह गलत है।"]),
    ],
)
def test_the_blank_between_sentences_is_missing(
    text: str, expected: list[str], speak: Speak
) -> None:
    assert speak(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there\nHow are you", ["Hello there", "How are you"]),
        ("The words go on\nand on here.", ["The words go on and on here."]),
        ("First, second,\nThird one.", ["First, second, Third one."]),
        ("First line.\r\nSecond line.", ["First line.", "Second line."]),
        ("Done.\n\n\n\nNext.", ["Done.", "Next."]),
        ("Here is the list:\none more", ["Here is the list:", "one more"]),
        ("Step 1.\nOpen it.\nStep 2.\nClose it.", ["Step 1.", "Open it.", "Step 2.", "Close it."]),
        ("a) one\nb) two", ["a) one", "b) two"]),
        ("Ask Dr.\nSmith now.", ["Ask Dr. Smith now."]),
        ("これは父の\n家です。", ["これは父の家です。"]),
        ("第一行\n第二行", ["第一行", "第二行"]),
    ],
)
def test_line_ends(text: str, expected: list[str], speak: Speak) -> None:
    assert speak(text, "ja" if "父" in text else "en-us") == expected


@pytest.mark.parametrize("text", ["", "   \n\t ", "...", "... !", "?!", "—", "🎉", "😊🎉", "***"])
def test_nothing_to_speak(text: str, speak: Speak) -> None:
    assert speak(text) == []


def test_a_reply_without_final_mark_is_spoken_at_its_end(speak: Speak) -> None:
    assert speak("That is all. And this too") == ["That is all.", "And this too"]


def test_a_paragraph_of_abbreviations_is_three_chunks(speak: Speak) -> None:
    text = (
        "Dr. Lee met Mrs. May, e.g. at St. Ann in the U.S. and at No. 5 Elm St. with Mr. Ray. "
        "They spoke of prices, i.e. $3.50 vs. $4.00 at 9 a.m. sharp. It went well."
    )
    assert len(speak(text)) == 3


def test_tokens_are_never_glued_together(speak: Speak) -> None:
    assert speak("¿Y que quieras? Un book Look.", "es") == ["¿Y que quieras?", "Un book Look."]
