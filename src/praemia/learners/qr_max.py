"""QR-Max (Trapasso, Iocchi and Patrizi 2026): R-max that learns p once for all machine states.

A pair (o, a) is known after m visits. With Y = φ + W:

    Q_h = Σ p̂ Y for a known pair,      Q_h = H − h for an unknown one (the largest remaining return),

V_h = max_a Q_h. A new plan is made when a pair has become known: before the next episode, or at once, as in the paper
(``replan="known-at-once"``). With ``learn_machine`` it observes the machine's state, and learns the effect of a label
in a machine state from one visit, which suffices for a deterministic machine.

It promises a nearly optimal policy after polynomially many samples (PAC), not small regret: once all pairs that
matter are known it stops learning, so any error left costs regret in every episode.

Differences: p̂ is that of all visits up to the plan, where the released code stops counting at m; an unknown pair has
value H − h, there M times as much; the released code learns the machine by observations, not by labels; with the
machine given it counts a step once more for each machine state, so that its m = 39 is ⌈39/(1 + M)⌉ visits with M states
in which the machine is not done.
"""

from __future__ import annotations

import math
from dataclasses import field, replace

import numpy as np

from praemia.learners.backward import plan_with_bonus
from praemia.learners.base import Learner, LearnerPlan, parameter
from praemia.learners.experience import Experience
from praemia.learners.learned_machine import CanLearnMachine
from praemia.learners.replanning import AT_ONCE, KNOWN, ReplanRule


class QRMax(CanLearnMachine):
    """Factored R-max: plan in the known part of the model, and assume the best of the rest.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.QRMax(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('qr-max', 100)
    """

    summary = "R-max where a pair (o, a) is known after m visits"
    reference = (
        "Trapasso, Iocchi and Patrizi 2026 (IJCAI-ECAI), Model-Based Reinforcement Learning in Discrete-Action "
        "Non-Markovian Reward Decision Processes"
    )
    has_estimate = True
    replan_rules = (KNOWN, KNOWN + AT_ONCE, *Learner.replan_rules)

    known_after: int = parameter(16, "m: the visits after which a pair is known", 1)
    replan: str = field(
        default=KNOWN,
        metadata={"help": f"when to plan again: {KNOWN}, when a pair has become so, {KNOWN}{AT_ONCE}; or as others do"},
    )

    @property
    def replan_rule(self) -> ReplanRule:
        return replace(super().replan_rule, visits=math.ceil(self.known_after))

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        bonus = np.where(experience.visits >= self.known_after, 0.0, np.inf)
        return plan_with_bonus(experience, bonus, machine=self.estimated_machine(experience, 0.0, 0.0), rng=rng)
