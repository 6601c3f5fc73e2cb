"""What the splitters are given: an agent's replies, a run-on sentence, the hard set, token cuts."""

from __future__ import annotations

import json
import random
import re
from itertools import cycle, islice
from pathlib import Path
from typing import Any

HARD_SET = Path(__file__).resolve().parent.parent / "tests/data/chunker_hard.jsonl"

#: One reply a paragraph, one sentence a line.
_REPLIES = """
Thanks for waiting, I have your booking in front of me now.
You are on the 10:30 train from Leeds on Tuesday, with two seats by the window.
The fare came to £64.50, and the receipt went to your work address.
Would you like me to change anything?

Yes, of course.
There is an earlier train at 8:15 and another at 9:05, although the first has no dining car.
Changing costs nothing up to two hours before departure.
After that it is £12 for each seat.

Your parcel left the depot this morning and is on the van with the driver.
He has eleven stops before yours, so I expect him between one and two in the afternoon.
If nobody is in, he will leave it with the neighbour at number 14.
I can ask him to ring first if you prefer.
Shall I do that?

I looked at the last three bills, and here is what changed.
In March you used 210 kilowatt hours, in April 188 and in May 305.
Nothing in the tariff is different, so the rise comes from what was running in the house.
A heater or an old freezer would explain a jump of that size.
We could start by reading the meter tonight and again tomorrow morning.

That is a good question!
The short answer is no, because the warranty covers faults and not wear.
The long answer depends on when the screen cracked and whether anybody opened the case.
Could you send me a photo of the back, with the serial number in view?

I have found two openings with Dr. Alvarez next week.
One is on Monday at 9 a.m. and the other on Thursday just after lunch.
She will want to see the results from St. Mary's, so please bring the letter if you have it.
Which of the two suits you better?

Done!
The table is booked for six people at half past seven.
I told them that one guest cannot eat nuts and that another comes in a wheelchair.
They will keep the corner by the garden door free for you.
Parking is behind the building, and the gate closes at 11:00.

The update has finished and nothing went wrong.
Version 2.4.1 is running on both machines, and the backup from last night is still there.
You may notice that the first search takes a little longer, since the index is being rebuilt.
That will be over in about twenty minutes.
Please tell me at once if you see an error.

Let me go through it step by step.
First, hold the button on the left until the light turns green.
Then open the app and choose the name that ends in your room number.
If the light goes red instead, the device has not reached the network, and we try again closer to \
the router.
Is the light green now?

I understand.
I am sorry that it took three calls to get this far.
The refund of $129.99 was approved a minute ago.
Your bank usually needs three to five working days to show it.
I have also made a note, so that nobody asks you for the same papers again.
Is there anything else that I can do for you today?

The weather looks mixed for the weekend.
Saturday stays dry until late afternoon, with a light wind from the west and about 18 degrees.
On Sunday it will rain nearly all day, and it might thunder towards evening.
If you want to walk the long route, go on Saturday and start before ten.

Your balance is 2,318 points, which is enough for one free night.
Mr. Okafor at the front desk can take them off the bill when you leave.
They run out on the last day of next year.
Until then every stay adds more!

Sorry, I did not catch the last part of that.
Did you say gate 14 or gate 40?
If it is the second, you have a walk of ten minutes, so please leave the lounge by 6:45 p.m. at \
the latest.
Boarding starts at 7:10, and they close the doors a quarter of an hour before departure.

I would not take the cheaper plan, and I can tell you why.
It has no limit on calls, but it stops at 3.5 gigabytes, and you used 4.2 last month.
The next one up costs $6 more and never slows down.
You can go back at the end of any month without a fee.
Which one shall I put down for you?
"""
REPLIES: list[list[str]] = [part.splitlines() for part in _REPLIES.strip().split("\n\n")]
PROSE = " ".join(" ".join(reply) for reply in REPLIES)

_RUN_ON = "and then we looked at the next of the many proposals that somebody had sent us, "

#: Said before a tool call: whole sentences, and what nobody should speak yet.
FINISHED = {
    "Let me check that for you.": "en",
    "Let me check that for you. ": "en",
    "Let me check that for you.\n\n": "en",
    "Is that right?": "en",
    "One moment, please!": "en",
    "让我看一下。": "zh",
    "मैं देखता हूँ।": "hi",
}
UNFINISHED = {"I saw Dr.": "en", "I saw Dr. ": "en", "Let me check that for ": "en"}

# Words with the space before them, long ones in pieces; marks apart; one or two CJK characters.
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_TOKEN = re.compile(rf"{_CJK}{{1,2}}|\s?(?:(?!{_CJK})\w){{1,5}}|\s?[^\w\s]+\n*|\s+")


def tokens(text: str) -> list[str]:
    """Pseudo-tokens of about four characters, as an LLM sends them; the same on every run."""
    return _TOKEN.findall(text)


def cuts(text: str) -> dict[str, list[str]]:
    """The same text cut in ways that must not matter."""
    return {
        "characters": list(text),
        "words": re.findall(r"\s*\S+|\s+", text),
        "random 1": _random_cut(text, 1),
        "random 2": _random_cut(text, 2),
    }


def _random_cut(text: str, seed: int) -> list[str]:
    chance = random.Random(f"{seed} {text}")
    parts, start = [], 0
    while start < len(text):
        size = chance.choice((1, 1, 2, 3, 4, 5, 8, 13))
        parts.append(text[start : start + size])
        start += size
    return parts


def prose(characters: int) -> str:
    return "".join(islice(cycle(PROSE + " "), characters))


def run_on(characters: int) -> str:
    return "".join(islice(cycle(_RUN_ON), characters))


def hard_set() -> list[dict[str, Any]]:
    return [json.loads(line) for line in HARD_SET.read_text("utf-8").splitlines() if line]
