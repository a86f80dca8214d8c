"""QR-Max (Trapasso, Iocchi and Patrizi 2025): R-max that learns the kernel once for all machine states.

A pair (o, a) is known after m visits. With Y = φ + W:

    Q_h = Σ p̂ Y for a known pair,      Q_h = H − h for an unknown one (the most that can still be earned),

V_h = max_a Q_h. A new plan is made only when a pair has become known since the last one.

It promises a nearly optimal policy after polynomially many samples (PAC), not small regret: once all pairs that
matter are known it stops learning, so any error left costs regret in every episode.

Differences: the machine is given and not learned (the paper's variant with a known reward machine); episodes of H
steps instead of a discount; p̂ is that of all visits up to the plan (the released code stops counting at m, which is 100
there). The replan rule says when to look for pairs that have become known: with the default and m a power of 2, at
once.

The default is the largest of m = 2, 4, …, 64 whose geometric mean regret in warehouse-3 and riverswim-10 is within 25 %
of the best (8 to 24 runs, seeds of the tuning stream): with smaller ones a run now and then never recovers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.learners.base import Experience, LearnerPlan, parameter
from praemia.learners.compiled import BonusLearner
from praemia.tasks.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class QRMax(BonusLearner):
    """Factored R-max: plan in the known part of the model, and assume the best of the rest.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.QRMax(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('qr-max', 100)
    """

    name: ClassVar[str] = "qr-max"
    summary: ClassVar[str] = "R-max over (o, a): a pair is known after m visits, an unknown one is worth the most"
    reference: ClassVar[str] = "Trapasso, Iocchi and Patrizi 2025, Model-Based RL in Non-Markovian Reward Processes"

    known_after: int = parameter(16, "m: the visits after which a pair is known", 1)

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        return (float(self.known_after),)

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        return (0.0 if visits >= constants[0] else np.inf,)

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        return mean + pair.numbers[0]

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        num_known = int(np.sum(experience.visits >= self.known_after))
        if previous is not None:
            work, known_before = previous.memory
            if num_known == known_before:
                return previous
            previous = replace(previous, memory=work)
        made = super().plan(experience, previous, rng)
        return replace(made, memory=(made.memory, num_known))
