"""What was said of each text, in the order of Pipecat's frames."""

from __future__ import annotations

from typing import Any

from pipecat.frames.frames import AggregatedTextFrame, AggregatedTextProgressFrame, Frame
from pipecat.utils.context.aggregated_frame_sequencer import AggregatedFrameSequencer

from .words import SaidText


class SaidSequencer(AggregatedFrameSequencer):
    """Takes a word's place from the server instead of looking for it in the text.

    And takes nothing as said that was not: Pipecat's own gives the rest of a text to the LLM's
    context when its audio ends, spoken or not.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.frame: AggregatedTextFrame | None = None
        """The text that is about to be spoken."""

    async def register_spoken(
        self, frame: AggregatedTextFrame, *args: Any, **kwargs: Any
    ) -> list[Frame]:
        """Give a text its place; see the base class."""
        self.frame = frame
        kwargs["build_tracker"] = False
        return await super().register_spoken(frame, *args, **kwargs)

    def process_word(
        self,
        word: str,
        pts: int,
        context_id: str | None,
        includes_inter_frame_spaces: bool = False,
    ) -> list[Frame]:
        """The frames for a `SaidText`; none for one of a context that is over."""
        if not isinstance(word, SaidText):
            return super().process_word(word, pts, context_id, includes_inter_frame_spaces)
        slot = next((slot for slot in self._slots if slot.frame.id == word.frame_id), None)
        if slot is None or slot.complete:
            return []
        frames: list[Frame] = []
        if word:
            text = slot.frame.text
            frames.append(
                self._build_word_frame(
                    str(word),
                    pts,
                    slot.context_id,
                    segment_id=slot.frame.id,
                    includes_inter_frame_spaces=includes_inter_frame_spaces,
                )
            )
            progress = AggregatedTextProgressFrame(
                segment_id=slot.frame.id,
                context_id=slot.context_id,
                text=text,
                text_type=slot.frame.text_type,
                accumulated_text=text[: word.end],
                remaining_text=text[word.end :],
            )
            progress.pts = pts
            frames.append(progress)
        if word.last:
            slot.complete = True
            frames.extend(self.flush(last_word_pts=pts))
        return frames

    def force_complete(self, context_id: str, last_word_pts: int) -> list[Frame]:
        """The context is over: what of its texts was not said never will be."""
        for slot in self._slots:
            if slot.spoken and slot.context_id == context_id:
                slot.complete = True
        return super().force_complete(context_id, last_word_pts)
