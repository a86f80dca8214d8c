"""Posterior sampling on the factored model: plan in one model sampled from the posterior.

p(·|o, a) has a Dirichlet prior of total weight α spread evenly over the observations, so the posterior is
Dirichlet(α/O + N(o, a, ·)). The machine is known and is not sampled. No bonus: exploration comes from sampling.

A sample mixes one from Dirichlet(N), over the successors seen, and one from the prior, weighted by Gamma variables. The
prior's part is sampled by stick-breaking: fractions v_1, v_2 … ~ Beta(1, α) of what is left break off, and each falls
on an observation sampled uniformly (Sethuraman 1994: over finitely many observations this is the Dirichlet
distribution itself). The last stick takes what is left below 10⁻⁶, so a probability is off by no more than that. Where
observations are few, each gets a Gamma variable of its own, which is exact.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.kernels.linear import LinearForm, Scratch
from praemia.kernels.posteriors import Prior, Sampled, Seen, copy_counts, new_sample, plan_sampled
from praemia.kernels.records import LANES, NUM_EXITS
from praemia.kernels.ties import new_stream
from praemia.learners.backward import arrays_on, checked_plan, next_policy, pass_arrays
from praemia.learners.base import LearnerPlan, parameter
from praemia.learners.experience import Experience
from praemia.learners.learned_machine import CanLearnMachine

LEAST_MASS = 1e-6  # a stick below this share of the distribution is not broken any more


class PSRL(CanLearnMachine):
    """Posterior sampling for reinforcement learning, over (o, a) and not over the product.

    Examples
    --------
    >>> import praemia
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), praemia.PSRL(), num_episodes=100).learner
    'psrl'
    """

    summary = "plans in an environment sampled from the Dirichlet posterior"
    reference = "Osband, Russo and Van Roy 2013, (More) Efficient RL via Posterior Sampling"
    has_estimate = True
    asks_labels = "every"

    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over the observations", 1e-6)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, every = experience.spec, experience.spec.every_step
        task = arrays_on(spec, every.table)
        if self.learn_machine:
            task = pass_arrays(spec, machine=self.sampled_machine(experience, self.prior, rng, every.labels[1]))
        if "sampling" not in experience._kept:
            experience._kept["sampling"] = _new_sampling(experience, self.prior, len(task.is_done))
        seen, prior, sampled, scratch, form = experience._kept["sampling"]
        copy_counts(experience._counts, seen)
        policy, every_one = next_policy(experience, rng), np.ones(spec.num_observations, dtype=bool)
        extra_rows = every.rows.rows[spec.num_observations + NUM_EXITS :]
        plan_sampled(task, seen, prior, rng, sampled, scratch, form, extra_rows, every_one, policy, new_stream(rng))
        return checked_plan(policy, scratch.tables)


Sampling = tuple[Seen, Prior, Sampled, Scratch, LinearForm]


def _new_sampling(experience: Experience, weight: float, width: int) -> Sampling:
    """Return what plans of a run are sampled from, and arrays to sample and to plan in."""
    spec, counts, every = experience.spec, experience._counts, experience.spec.every_step.rows
    seen, prior = new_seen(experience, len(counts.transitions)), dirichlet(weight, spec.num_successors)
    sampled, tables = new_sample(seen, prior), np.zeros((2, len(every.rows) * width))
    scratch = Scratch(sampled.edges, tables, np.zeros(spec.num_actions * LANES), np.zeros(0))
    nothing, no_plan, slots = np.zeros((1, 1, 1, 1)), np.empty((spec.horizon, 0)), np.zeros(len(seen.own), np.int32)
    form = LinearForm(nothing, nothing, 1.0, spec.named_caps["steps left"], no_plan, no_plan, slots)
    return seen, prior, sampled, scratch, form


def new_seen(experience: Experience, size: int) -> Seen:
    """Return room for so many transitions, with the continuation row of every successor, seen or not."""
    indptr = np.zeros(len(experience._counts.visits) + 1, dtype=np.int64)
    return Seen(indptr, np.empty(size), np.empty(size, dtype=np.int32), experience.spec.every_step.rows.own)


def dirichlet(weight: float, num_successors: int) -> Prior:
    """Return a prior of a total weight, spread evenly over the successors of a pair."""
    mean = weight * math.log(1.0 / LEAST_MASS)
    # The number of sticks is Poisson with this mean; there is room for ten standard deviations more.
    most = math.ceil(2.0 + mean + 10.0 * math.sqrt(mean))
    breaks_sticks = 1.0 + mean < num_successors  # else every observation has a Gamma variable of its own
    return Prior(float(weight), num_successors, LEAST_MASS, most if breaks_sticks else 0)
