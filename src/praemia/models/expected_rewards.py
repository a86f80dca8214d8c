"""What a machine pays on a word, a sequence of labels."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

import numpy as np
from numpy.typing import NDArray

from praemia.models.labels import as_label
from praemia.models.machine import RewardMachine


def expected_rewards(machine: RewardMachine, word: Iterable[Iterable[str]]) -> NDArray[np.float64]:
    """Return the mean reward of each step of a word, float64[n]; messages count steps from 1."""
    chances = {machine.initial: 1.0}
    means = []
    for number, propositions in enumerate(word, start=1):
        label = as_label(propositions, f"step {number}", machine.propositions)
        after: dict[str, float] = {}
        mean = []
        for state, chance in chances.items():
            for out in machine.outcomes(state, label):
                after[out.target] = after.get(out.target, 0.0) + chance * out.probability
                mean.append(chance * out.probability * out.reward.mean)
        means.append(fsum(mean))
        chances = after
    return np.array(means, dtype=np.float64)
