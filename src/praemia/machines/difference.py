"""The shortest word on which two machines differ in expected rewards.

After a word, each machine is in its states with certain probabilities. These two beliefs side by side are a vector, and
the expected rewards of the next step are linear in it. So only words whose vector is no linear combination of earlier
ones have to be extended (Tzeng, 1992), and there are at most as many as the machines have states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from praemia.machines.diagrams import Diagrams, Growth
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcomes
from praemia.machines.state_diagrams import StateDiagrams

TOLERANCE = 1e-9  # of expected rewards, relative to the sum of their absolute parts
DEPENDENT = 1e-13  # of probabilities, below which nothing new is left of a vector

Belief: TypeAlias = dict[int, float]  # state -> probability; the states of the second machine come after the first's


def difference(first: RewardMachine, second: RewardMachine) -> list[Label] | None:
    """Return the shortest word whose last step has different expected rewards in two machines; None if none has."""
    search = _Search(first, second)
    start = {first.index[first.initial]: 1.0, first.num_states + second.index[second.initial]: 1.0}
    rows: dict[int, Belief] = {}
    waiting = deque([(start, list[Label]())] if _is_new(start, rows) else [])
    while waiting:
        belief, word = waiting.popleft()
        for label, following, differs in search.steps(belief):
            if differs:
                return [*word, label]
            if _is_new(following, rows):
                waiting.append((following, [*word, label]))
    return None


class _Search:
    def __init__(self, first: RewardMachine, second: RewardMachine) -> None:
        self._machines, self._offset = (first, second), first.num_states
        self._names = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
        self._store = Diagrams(Growth())
        parts = (machine.diagrams.reordered(self._names, self._store).roots for machine in self._machines)
        self._roots = [root for roots in parts for root in roots]

    def steps(self, belief: Belief) -> Iterator[tuple[Label, Belief, bool]]:
        """Yield, for labels of every kind, a label, the belief after it, and whether expected rewards differ on it."""
        store, states = self._store, sorted(belief)
        diagram = store.leaf(())
        for state in states:
            diagram = store.combine(diagram, self._roots[state], lambda outs, own: (*outs, own), {})
        (examples,) = StateDiagrams(self._names, store, (diagram,)).examples()
        for leaf, label in sorted(examples.items(), key=lambda item: (len(item[1]), sorted(item[1]))):
            yield label, *self._after(belief, dict(zip(states, store.value(leaf), strict=True)))

    def _after(self, belief: Belief, outcomes: dict[int, Outcomes]) -> tuple[Belief, bool]:
        following: Belief = {}
        paid, scale = [0.0, 0.0], [0.0, 0.0]
        for state, own in outcomes.items():
            which = int(state >= self._offset)
            for out in own:
                chance, target = belief[state] * out.probability, self._machines[which].index[out.target]
                place = target + which * self._offset
                following[place] = following.get(place, 0.0) + chance
                paid[which] += chance * out.reward.mean
                scale[which] += chance * abs(out.reward.mean)
        return following, abs(paid[0] - paid[1]) > TOLERANCE * max(scale)


def _is_new(belief: Belief, rows: dict[int, Belief]) -> bool:
    """Tell whether a vector is independent of those before it; if so, add what is left of it to the rows, by pivot."""
    left = dict(belief)
    while left:
        pivot = min(left)
        factor = left.pop(pivot)
        if abs(factor) <= DEPENDENT:
            continue
        if pivot not in rows:
            rows[pivot] = {place: value / factor for place, value in left.items()}
            return True
        for place, value in rows[pivot].items():
            left[place] = left.get(place, 0.0) - factor * value
    return False
