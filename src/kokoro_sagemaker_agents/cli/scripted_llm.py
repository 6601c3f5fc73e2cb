"""A language model that always writes the same, at a real one's pace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .tokens import pseudo_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it comes out of a model.

    Args:
        name: what tables call it.
        text: all of it.
    """

    name: str
    text: str

    @property
    def tokens(self) -> list[str]:
        """The text in pieces like a model's tokens."""
        return list(pseudo_tokens(self.text))


#: Tokens per second of the hosted models people talk to, and what the replies are timed for.
PACE: Final = 50.0

#: 30 tokens, about 0.6 s at that pace.
SHORT: Final = Reply(
    "short",
    "Yes, your table is booked for seven. Dr. Lee's party sits by the window, and the menu is"
    " $38.50 each.",
)

#: 250 tokens, about 5 s at that pace.
LONG: Final = Reply(
    "long",
    """\
Of course, here is the plan for Saturday. The train leaves at 9:40 a.m. from platform two, and you \
arrive in Bath a little after eleven. Mr. Harris from the hotel meets you at the station, so don't \
take a taxi.

There are three things I'd pack:

1. A warm coat, because the evening will be windy.
2. Good shoes for the walk along the river.
3. The tickets, which I have sent to your phone.

The room costs $129.50 a night, breakfast included. That is about 20% less than last year! If you \
want the larger room with the view, it is $12 more, and Ms. Price can change the booking until \
Friday noon. Dinner is at half past seven in the old mill, e.g. the trout or the mushroom pie. \
Would you like me to reserve a table for two? I can also ask whether they still have places for \
the boat trip on Sunday, which takes an hour and ends near the abbey. Just tell me before nine \
tonight, and I'll arrange the rest, so that you only have to pack.""",
)

REPLIES: Final = (LONG, SHORT)
