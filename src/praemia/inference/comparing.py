"""Compare an inferred machine with the truth, where it is known: walk through both on the same labels and rewards."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from praemia.models.labels import Label
from praemia.models.machine import RewardMachine

LIKELY = 1e-9  # a probability below this is none


@dataclass(frozen=True)
class Difference:
    """A label on which an inferred state and the true state it stands for can pay different rewards."""

    state: str
    true_state: str
    label: Label
    pays: frozenset[float]
    truly_pays: frozenset[float]


@dataclass(frozen=True)
class Comparison:
    """What an inferred machine gets right.

    Attributes
    ----------
    partners : for each inferred state the true states in which the truth can be when the inferred machine is there.
    differences : where they can pay different rewards. There are none if the machine is right, up to its numbers.
    """

    partners: dict[str, tuple[str, ...]]
    differences: tuple[Difference, ...]

    @property
    def is_right(self) -> bool:
        return not self.differences


def compare(machine: RewardMachine, truth: RewardMachine, labels: Collection[Label]) -> Comparison:
    """Compare a machine with the truth on all sequences of some labels."""
    queue = [(machine.initial, truth.initial)]
    seen, differences = set(queue), []
    for state, true_state in queue:
        for label in labels:
            moves, true_moves = _moves(machine, state, label), _moves(truth, true_state, label)
            if moves.keys() != true_moves.keys():
                paid = (frozenset(moves), frozenset(true_moves))
                differences.append(Difference(state, true_state, label, *paid))
            for reward in moves.keys() & true_moves.keys():
                for pair in ((one, two) for one in moves[reward] for two in true_moves[reward]):
                    if pair not in seen:
                        seen.add(pair)
                        queue.append(pair)
    partners = {state: tuple(sorted(two for one, two in seen if one == state)) for state in machine.states}
    return Comparison(partners, tuple(differences))


def _moves(machine: RewardMachine, state: str, label: Label) -> dict[float, set[str]]:
    """Return the states that each reward can lead to."""
    found: dict[float, set[str]] = {}
    for out in machine.outcomes(state, label):
        for value, probability in zip(out.reward.values, out.reward.probabilities, strict=True):
            if out.probability * probability > LIKELY:
                found.setdefault(value, set()).add(out.target)
    return found
