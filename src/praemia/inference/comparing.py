"""Compare an inferred machine with the true machine: follow both on the same labels and rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from praemia.inference.answer import Edge
from praemia.inference.traces import label_text, reward_key
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine

TOLERANCE = 1e-9  # of a probability


class Match(NamedTuple):
    """For each inferred state the true states it stands for; what differs in a pair of states on a label."""

    partners: dict[str, tuple[str, ...]]
    differences: dict[tuple[str, str, Label], str]

    @property
    def mistakes(self) -> list[str]:
        """What differs; if nothing does, the true states that several inferred states stand for."""
        names = [name for partners in self.partners.values() for name in partners]
        several = sorted({name for name in names if names.count(name) > 1})
        return list(self.differences.values()) or [f"{name} is several inferred states" for name in several]


def compare_machines(
    machine: RewardMachine, truth: RewardMachine, edges: Sequence[Edge] = (), labels: Iterable[Label] = ()
) -> Match:
    """Compare on all sequences of labels, those of edges and others; true probabilities must lie in their intervals."""
    intervals = {(edge.source, edge.label, reward_key(edge.reward)): edge.interval for edge in edges}
    labels, differences = {*labels, *(edge.label for edge in edges)}, dict[tuple[str, str, Label], str]()
    pairs = [(machine.initial, truth.initial)]
    for (state, true_state), label in ((pair, label) for pair in pairs for label in sorted(labels, key=sorted)):
        found, true = _moves(machine, state, label), _moves(truth, true_state, label)
        paid, truly = (" or ".join(f"{reward:g}" for reward in sorted(each)) for each in (found, true))
        wrong = [f"has the reward {paid}; the true machine has {truly}"] if found.keys() != true.keys() else []
        for reward in sorted(found.keys() & true.keys()):
            chance, (low, high) = true[reward][0], intervals.get((state, label, reward), (0.0, 1.0))
            if not low - TOLERANCE <= chance <= high + TOLERANCE:
                wrong.append(f"has reward {reward:g} with true probability {chance:.4f}, outside {low:.4f}…{high:.4f}")
            following = product(sorted(found[reward][1]), sorted(true[reward][1]))
            pairs += [pair for pair in following if pair not in pairs]
        if wrong:
            differences[state, true_state, label] = f"{state} (truly {true_state}) on {label_text(label)} {wrong[0]}"
    return Match({q: tuple(sorted(two for one, two in pairs if one == q)) for q in machine.states}, differences)


def _moves(machine: RewardMachine, state: str, label: Label) -> dict[float, tuple[float, set[str]]]:
    """Return the probability of each reward, and the states that it can lead to."""
    moves: dict[float, tuple[float, set[str]]] = {}
    for out in machine.outcomes(state, label):
        for value, _, probability in out.reward.pieces:
            chance, targets = moves.get(reward_key(value), (0.0, set()))
            moves[reward_key(value)] = chance + out.probability * probability, targets | {out.target}
    return moves
