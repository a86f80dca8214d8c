"""The shortest word on which two machines differ in expected rewards.

The beliefs of both machines after a word are a vector, in which the next expected rewards are linear: only words whose
vector is no linear combination of earlier ones have to be extended (Tzeng, 1992).
"""

from __future__ import annotations

from collections import deque
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
    machines, offset = (first, second), first.num_states
    names, store = tuple(dict.fromkeys((*first.propositions, *second.propositions))), Diagrams(Growth())
    roots = [root for machine in machines for root in machine.diagrams.reordered(names, store).roots]

    def after(belief: Belief, outcomes: dict[int, Outcomes]) -> tuple[Belief, bool]:
        """Return the belief after a step, and whether expected rewards differ on it."""
        following: Belief = {}
        paid, scale = [0.0, 0.0], [0.0, 0.0]
        for state, own in outcomes.items():
            which = int(state >= offset)
            for out in own:
                chance, place = belief[state] * out.probability, machines[which].index[out.target] + which * offset
                following[place] = following.get(place, 0.0) + chance
                paid[which] += chance * out.reward.mean
                scale[which] += chance * abs(out.reward.mean)
        return following, abs(paid[0] - paid[1]) > TOLERANCE * max(scale)

    start = {first.index[first.initial]: 1.0, offset + second.index[second.initial]: 1.0}
    rows: dict[int, Belief] = {}
    waiting = deque([(start, list[Label]())] if _is_new(start, rows) else [])
    while waiting:
        belief, word = waiting.popleft()
        states, diagram = sorted(belief), store.leaf(())
        for state in states:
            diagram = store.combine(diagram, roots[state], lambda outs, own: (*outs, own), {})
        (examples,) = StateDiagrams(names, store, (diagram,)).examples()  # a label of every kind
        for leaf, label in sorted(examples.items(), key=lambda item: (len(item[1]), sorted(item[1]))):
            following, differs = after(belief, dict(zip(states, store.value(leaf), strict=True)))
            if differs:
                return [*word, label]
            if _is_new(following, rows):
                waiting.append((following, [*word, label]))
    return None


def _is_new(belief: Belief, rows: dict[int, Belief]) -> bool:
    """Return whether a vector is independent of those before it; if so, add what is left of it to the rows."""
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
