"""Learners that can learn the machine as well: its states are seen, its probabilities and rewards are not.

The learner is given the states, the initial state, the labels and the range of the rewards; with ``moves_known`` also
which moves are possible. It counts (q, σ, q') and rewards beside (o, a, o'). With n = N(q, σ) it plans with

    τ̂ = N(q, σ, ·)/n,   φ̂ = the mean reward,   W̄(q, o') = φ̂ + β_h + Σ_q' τ̂(q')·V_{h+1}(o', q'),
    β_h = R·min{1, c_a/√n + c_b/n},

R the most that the step and what follows can be wrong by: the largest return from step h on, or 1 where only the reward
is open because a single machine state can follow. Where n = 0, W̄ is R, or 1 + V of that state.

With the c_a of ``machine_root`` and c_b ≥ 0 plans stay optimistic, with probability 1 − 2ρ: docs/concepts/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum, portable_log
from praemia.errors import ParameterError
from praemia.kernels.records import SMALLEST
from praemia.learners.base import Learner
from praemia.learners.experience import Experience
from praemia.machines.labels import Label

PER_VISIT = 0.1  # the practical c_b
Machine = tuple[NDArray[np.float64], NDArray[np.float64]]  # probs[L, M, M] and rewards[H, L, M]


class CanLearnMachine(Learner):
    """The base of learners with the parameter ``learn_machine``."""

    learn_machine: bool = field(
        default=False, metadata={"help": "learn the machine's probabilities and rewards too; only its states are seen"}
    )
    moves_known: bool = field(
        default=False, metadata={"help": "with learn_machine: which moves are possible is known, not how likely"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("learn_machine", "moves_known"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name}={getattr(self, name)!r}; expected true or false")
        if self.moves_known and not self.learn_machine:
            raise ParameterError("moves_known=true; it needs learn_machine=true, or else the whole machine is known")

    def machine_root(self, experience: Experience, failure_prob: float) -> float:
        """Return the c_a of the theory."""
        if not self.learn_machine:
            return 0.0
        spec = experience.spec
        rows = spec.num_machine_states * max(1, len(spec.label_sets)) * spec.num_observations
        return math.sqrt(portable_log(2.0 * spec.horizon * rows * experience.num_steps / failure_prob) / 2.0)

    def estimated_machine(
        self, experience: Experience, per_root: float, per_visit: float, labels: Sequence[Label] | None = None
    ) -> Machine | None:
        """Return τ̂ and φ̂ + β_h for c_a = ``per_root`` and c_b = ``per_visit``; None where the machine is known.

        ``labels`` are those that a plan tells apart: ``spec.label_sets``, and perhaps others after them.
        """
        if not self.learn_machine:
            return None
        possible, visits, moves, sums = machine_counts(experience, labels)
        only, n = possible.sum(axis=2) == 1, np.maximum(1.0, visits)
        probs = np.where(visits[..., None] > 0, moves / n[..., None], only[..., None] * possible)
        share = np.where(visits > 0, np.minimum(1.0, per_root / np.sqrt(n) + per_visit / n), 1.0)
        bonus = np.where(only, 1.0, experience.spec.value_caps[:-1, None, None]) * share
        return probs, sums / n + bonus

    @staticmethod
    def sampled_machine(
        experience: Experience, prior: float, rng: np.random.Generator, labels: Sequence[Label] | None = None
    ) -> Machine:
        """Sample τ from Dirichlet(α/k + N(q, σ, ·)) over the k states that can follow, and φ from a Beta distribution.

        Rewards in [0, 1] count as parts of a success: φ ~ Beta(α/2 + Σr, α/2 + n − Σr).
        """
        possible, visits, moves, sums = machine_counts(experience, labels)
        shapes = prior / possible.sum(axis=2, keepdims=True) + moves
        weights = np.where(possible, np.maximum(SMALLEST, rng.standard_gamma(shapes)), 0.0)
        gain, loss = (
            np.maximum(SMALLEST, rng.standard_gamma(0.5 * prior + np.maximum(0.0, it))) for it in (sums, visits - sums)
        )
        rewards = np.broadcast_to(gain / (gain + loss), (experience.spec.horizon, *gain.shape))
        return weights / ordered_sum(weights, axis=2)[..., None], rewards


def machine_counts(experience: Experience, labels: Sequence[Label] | None = None) -> tuple[NDArray[Any], ...]:
    """Return the moves that are possible as far as the learner knows, the visits, the moves and the sums of rewards.

    They are [L, M, M], [L, M], [L, M, M], [L, M]; labels beyond ``spec.label_sets`` were never seen.
    """
    spec = experience.spec
    assert spec.possible is not None
    labels = spec.label_sets if labels is None else labels
    more = len(labels) - len(spec.label_sets)
    counted = (experience.machine_visits, experience.machine_moves, experience.machine_reward_sums)
    padded = (np.pad(counts, [(0, more)] + [(0, 0)] * (counts.ndim - 1)) for counts in counted)
    return spec.possible(labels), *padded
