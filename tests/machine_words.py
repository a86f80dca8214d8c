"""Are two machines the same to whoever sees labels and rewards?"""

from __future__ import annotations

from itertools import combinations

import pytest

from praemia.machines.machine import RewardMachine


def require_same_words(first: RewardMachine, second: RewardMachine) -> None:
    """Assert that two machines whose states correspond move and pay alike on every label, from what can be reached.

    Two states correspond if the same edges lead to them. Probabilities may differ by rounding, rewards may not.
    """
    names = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
    labels = [frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)]
    twin = {first.initial: second.initial}
    waiting = [first.initial]
    for state in waiting:
        for label in labels:
            outcomes, others = first.outcomes(state, label), list(second.outcomes(twin[state], label))
            assert len(outcomes) == len(others), (state, label)
            for outcome in outcomes:
                other = next(
                    (
                        out
                        for out in others
                        if twin.get(outcome.target, out.target) == out.target
                        and out.reward.values == outcome.reward.values
                        and out.probability == pytest.approx(outcome.probability, abs=1e-12)
                        and out.reward.probabilities == pytest.approx(outcome.reward.probabilities, abs=1e-12)
                    ),
                    None,
                )
                assert other is not None, (state, label, outcome, others)
                others.remove(other)
                if outcome.target not in twin:
                    twin[outcome.target] = other.target
                    waiting.append(outcome.target)
