"""OPSRL (Tiapkin et al. 2022) for reward machines: act on the best of a few samples from an optimistic posterior.

The prior of p(·|o, a) is n₀ visits to a fictitious observation of value H − h, the largest return from step h on.
For every pair J distributions w_j are sampled from Dirichlet(n₀, N(o, a, ·)), and with Y = φ + W:

    Q_h = max_j w_j⁰·(H − h) + Σ w_j(o')·Y(m, o'),      V_h = max_a Q_h.

A pair never visited has value H − h. With J = 1 this is posterior sampling under an optimistic prior.

One set of J kernels serves all steps, as in the implementation released with the paper when p does not depend on h
(n₀ = 1 there); the paper's text, for models that differ from step to step, samples J for each (h, s, a).

Differences: the paper's analysis gives the fictitious observation a reward of 2 in every step, and so the value 2(H −
h); here it is 1, the largest possible reward, as in the released implementation. The paper's theory also has J =
⌈ln(2·OA·H·K/ρ)/ln(2/(1 + Φ(1)))⌉ and n₀ of the order of ln K; the defaults are practical ones. So the paper's guarantee
does not carry over. Pairs are (o, a) and not product states, the kernels serve all machine states, and the machine is
not sampled; rewards come through φ and are not sampled either; plans are made when a count doubles (in the paper,
before every episode).
"""

from __future__ import annotations

import numpy as np

from praemia.errors import require_whole
from praemia.kernels.posteriors import plan_best_of
from praemia.kernels.ties import new_stream
from praemia.learners.backward import checked_plan, next_policy, pass_arrays, scratch_for
from praemia.learners.base import TINY, Learner, LearnerPlan, parameter
from praemia.learners.experience import Experience


class OPSRL(Learner):
    """Optimistic posterior sampling, over (o, a) and not over the product.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.OPSRL(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('opsrl', 100)
    """

    summary = "the best of J posterior samples per action value, optimistic prior"
    reference = "Tiapkin et al. 2022, Optimistic Posterior Sampling for Reinforcement Learning"
    has_estimate = True

    prior_visits: float = parameter(0.0003, "n₀: how often the fictitious best observation counts as visited", TINY)
    num_samples: int = parameter(2, "J: posterior samples for each pair, of which the best is used", 1, 10_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("num_samples", self.num_samples, 1, 10_000)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, counts, task = experience.spec, experience._counts, pass_arrays(experience.spec)
        scratch, policy = scratch_for(experience, task), next_policy(experience, rng)
        fictitious, weights = (
            np.empty((len(numbers), int(self.num_samples))) for numbers in (counts.visits, scratch.edges.weights)
        )
        prior, caps = float(self.prior_visits), spec.named_caps["steps left"]
        plan_best_of(task, counts, scratch, prior, rng, fictitious, weights, caps, policy, new_stream(rng))
        return checked_plan(policy, scratch.tables)
