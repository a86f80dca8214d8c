"""Compare an inferred machine with the truth, where it is known: walk through both on the same labels and rewards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TypeAlias

import numpy as np

from praemia.inference.answer import Edge, Inference
from praemia.inference.traces import label_text, reward_key
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

Intervals: TypeAlias = Mapping[tuple[str, Label, float], tuple[float, float]]

LIKELY = 1e-9  # a probability below this is none


@dataclass(frozen=True)
class Difference:
    """A label on which an inferred state pays otherwise than the true state it stands for.

    Attributes
    ----------
    pays, truly_pays : the rewards that each can pay.
    chance : the reward, its true probability, and the interval for it, which does not contain that; None if the rewards
        differ already.
    move : where the reward leads, and where the true machine goes with it, if it is a move that is compared: then the
        probability is that of reward and move.
    """

    state: str
    true_state: str
    label: Label
    pays: frozenset[float]
    truly_pays: frozenset[float]
    chance: tuple[float, float, tuple[float, float]] | None = None
    move: tuple[str, str] | None = None

    def __str__(self) -> str:
        where = f"{self.state} (truly {self.true_state}) on {label_text(self.label)}"
        if self.chance is not None:
            reward, chance, (low, high) = self.chance
            what = f"{where} pays {reward:g}" + (f" and leads to {self.move[0]}" if self.move else "")
            if self.move and chance == 0.0:
                return f"{what}; the true machine goes to {self.move[1]}"
            return f"{what} with true probability {chance:.4f}, outside {low:.4f} … {high:.4f}"
        pays, truly = (" or ".join(f"{value:g}" for value in sorted(each)) for each in (self.pays, self.truly_pays))
        return f"{where} pays {pays}; the true machine pays {truly}"


@dataclass(frozen=True)
class MachineComparison:
    """What an inferred machine gets right.

    Attributes
    ----------
    partners : for each inferred state the true states in which the truth can be when the inferred machine is there.
    differences : where they pay different rewards, or with chances outside the intervals.
    """

    partners: dict[str, tuple[str, ...]]
    differences: tuple[Difference, ...]

    @property
    def shared(self) -> tuple[str, ...]:
        """True states that several inferred states stand for; where nothing differs, these could be one."""
        all_partners = [name for partners in self.partners.values() for name in partners]
        return tuple(sorted({name for name in all_partners if all_partners.count(name) > 1}))

    @property
    def is_right(self) -> bool:
        """Whether nothing differs, and no two inferred states stand for one true state."""
        return not self.differences and not self.shared

    def lines(self) -> list[str]:
        """Say what differs, or that nothing does."""
        if self.is_right:
            return ["the same rewards on every label seen, and every probability within its interval"]
        if self.differences:
            return [str(item) for item in self.differences]
        return [f"{name} is several inferred states, which could be one" for name in self.shared]


def compare_machines(
    machine: RewardMachine, truth: RewardMachine, labels: Iterable[Label], edges: Iterable[Edge] = ()
) -> MachineComparison:
    """Compare a machine with the truth on all sequences of some labels; chances within the intervals of edges."""
    found = dict(_walk(machine, truth, {0: [(0, label) for label in labels]}, [0], math.inf, edges))
    partners = {state: tuple(sorted(two for one, two in found if one == state)) for state in machine.states}
    return MachineComparison(
        partners, tuple(difference for differences in found.values() for difference in differences)
    )


def compare_with_truth(inference: Inference, truth: RewardMachine) -> MachineComparison:
    """Compare what was inferred with the truth on the labels that were seen."""
    machine = inference.machine.over(truth.propositions)
    truth = truth.over(inference.machine.propositions)
    if inference.is_fitted:
        return _compare_fitted(machine, truth, inference.edges)
    return compare_machines(machine, truth, dict.fromkeys(edge.label for edge in inference.edges), inference.edges)


def _compare_fitted(machine: RewardMachine, truth: RewardMachine, edges: Iterable[Edge]) -> MachineComparison:
    """Compare a machine with hidden moves with the truth, state by state, under the names that fit best."""
    by_cell: dict[tuple[str, Label], list[Edge]] = {}
    for edge in edges:
        by_cell.setdefault((edge.source, edge.label), []).append(edge)
    true_moves = cache(lambda state, label: _moves(truth, state, label))

    def compare_under(names: tuple[str, ...]) -> MachineComparison:
        true_name, differences = dict(zip(machine.states, names, strict=True)), []
        for (state, label), ways in by_cell.items():
            moves = true_moves(true_name[state], label)
            paid = frozenset(reward_key(edge.reward) for edge in ways), frozenset(moves)
            for edge in ways:
                targets = moves.get(reward_key(edge.reward), {})
                chance = targets.get(true_name[edge.target], 0.0)
                if paid[0] != paid[1] or not edge.interval[0] - LIKELY <= chance <= edge.interval[1] + LIKELY:
                    wrong = None if paid[0] != paid[1] else (edge.reward, chance, edge.interval)
                    move = f"{edge.target} (truly {true_name[edge.target]})", " or ".join(targets)
                    differences.append(Difference(state, true_name[state], label, *paid, wrong, move))
        return MachineComparison({state: (name,) for state, name in true_name.items()}, tuple(differences))

    rest = product(truth.states, repeat=machine.num_states - 1)
    candidates = (compare_under((truth.initial, *names)) for names in rest)
    return min(candidates, key=lambda compared: (len(compared.differences), len(compared.shared)))


def is_equivalent(task: Task, machine: RewardMachine, labels: Sequence[Label], edges: Iterable[Edge]) -> bool:
    """Tell whether a machine pays what a task's own machine pays on all that an episode can reach."""
    mdp = task.mdp
    ways: dict[int, dict[tuple[int, Label], None]] = {}
    sources = np.repeat(np.arange(len(mdp.indptr) - 1), np.diff(mdp.indptr)) // task.num_actions
    for o, target, label in zip(sources.tolist(), mdp.targets.tolist(), mdp.labels.tolist(), strict=True):
        ways.setdefault(o, {})[target, labels[label]] = None
    walk = _walk(machine, task.machine, ways, task.starts.tolist(), task.max_steps, edges)
    return not any(differences for _, differences in walk)


def _walk(
    machine: RewardMachine,
    truth: RewardMachine,
    ways: Mapping[int, Iterable[tuple[int, Label]]],
    starts: Iterable[int],
    num_steps: float,
    edges: Iterable[Edge],
) -> Iterator[tuple[tuple[str, str], list[Difference]]]:
    """Walk through both machines from some places on; yield the pairs of states that are met, with what differs there.

    ``ways`` has for each place the labels that can come, each with the place that it leads to; an end has none.
    """
    intervals = {(edge.source, edge.label, reward_key(edge.reward)): edge.interval for edge in edges}
    step = cache(lambda pair, label: _step(machine, truth, pair, label, intervals))
    frontier = dict.fromkeys((place, (machine.initial, truth.initial)) for place in starts)
    reached = set(frontier)
    while frontier and num_steps > 0:
        ahead: dict[tuple[int, tuple[str, str]], None] = {}
        for place, pair in frontier:
            differences: list[Difference] = []
            for next_place, label in ways.get(place, ()):
                here, after = step(pair, label)
                differences += here
                ahead |= dict.fromkeys((next_place, states) for states in after)
            yield pair, differences
        frontier = {item: None for item in ahead if item not in reached}
        reached |= frontier.keys()
        num_steps -= 1


def _step(
    machine: RewardMachine, truth: RewardMachine, pair: tuple[str, str], label: Label, intervals: Intervals
) -> tuple[list[Difference], list[tuple[str, str]]]:
    """Return what differs on a label in a pair of states, and the pairs that can follow."""
    moves, true_moves = _moves(machine, pair[0], label), _moves(truth, pair[1], label)
    paid = (frozenset(moves), frozenset(true_moves))
    differences = [Difference(*pair, label, *paid)] if paid[0] != paid[1] else []
    after: list[tuple[str, str]] = []
    for reward in sorted(paid[0] & paid[1]):
        chance, interval = sum(true_moves[reward].values()), intervals.get((pair[0], label, reward), (0.0, 1.0))
        if paid[0] == paid[1] and not interval[0] - LIKELY <= chance <= interval[1] + LIKELY:
            differences.append(Difference(*pair, label, *paid, (reward, chance, interval)))
        after += [(one, two) for one in moves[reward] for two in true_moves[reward]]
    return differences, list(dict.fromkeys(after))


def _moves(machine: RewardMachine, state: str, label: Label) -> dict[float, dict[str, float]]:
    """Return the states that each reward can lead to, with the chance of the reward and the state."""
    moves: dict[float, dict[str, float]] = {}
    for out in machine.outcomes(state, label):
        for value, _, probability in out.reward.pieces:
            if out.probability * probability > LIKELY:
                targets = moves.setdefault(reward_key(value), {})
                targets[out.target] = targets.get(out.target, 0.0) + out.probability * probability
    return moves
