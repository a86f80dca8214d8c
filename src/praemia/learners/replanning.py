"""When a learner plans again: the words of its parameter ``replan``, and the one value that they are read into.

A plan is due, to be made before the next episode, when

    doubling   a pair's visits have reached a power of 2
    epoch      a pair's visits since the last plan have reached those before it
    growth     as epoch, or the episodes have grown by 5% since the last plan
    episode    an episode is over; at once: within it, as epoch
    known      a pair has been visited so often that it is known; QR-Max alone has it

With -at-once after one of these the plan is made as soon as it is due, in the middle of an episode. Always at once are

    step       a plan is due after every step
    repair     as growth, but a plan is made anew only before an episode, once the episodes have grown, and repaired
               until then; headroom alone has it
"""

from __future__ import annotations

from dataclasses import dataclass

from praemia.kernels import counts

AT_ONCE = "-at-once"
BETWEEN_EPISODES = ("doubling", "epoch", "growth", "episode")  # unless at once
KNOWN, STEP, REPAIR = "known", "step", "repair"
EVERYBODYS = (*BETWEEN_EPISODES, *(word + AT_ONCE for word in BETWEEN_EPISODES), STEP)
CODES = {
    "doubling": counts.DOUBLING,
    "epoch": counts.EPOCH,
    "growth": counts.GROWTH,
    "episode": counts.EPISODE,
    STEP: counts.STEP,
    REPAIR: counts.REPAIR,
}


@dataclass(frozen=True)
class ReplanRule:
    """When a plan is due, and whether it is made at once; ``visits`` is how many make a pair known."""

    word: str
    at_once: bool = False
    visits: int = 0

    @classmethod
    def of(cls, text: str) -> ReplanRule:
        """Read what a user writes, such as ``doubling-at-once``."""
        word = text.removesuffix(AT_ONCE)
        return cls(word, word != text or word in (STEP, REPAIR))

    @property
    def code(self) -> int:
        """The rule as kernels take it (``praemia.kernels.counts``)."""
        return -self.visits if self.word == KNOWN else CODES[self.word]
