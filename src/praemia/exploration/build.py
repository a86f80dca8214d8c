"""Datasets from what was counted, with the labels as data and the reachability that the counts show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.counted import Counted
from praemia.exploration.dataset import Dataset
from praemia.exploration.environments import Environment
from praemia.exploration.reach import most_visits
from praemia.models.labels import ENDED, RuleLabelling

MAX_WORK = 5_000_000_000  # multiplications for the reachability of all observations: some seconds


def build_dataset(
    environment: Environment,
    kept: Counted,
    every: Counted | None,
    source: dict[str, Any],
    fixed_machines: tuple[str, ...],
) -> Dataset:
    """Return what is kept as a dataset; ``every`` is all that was played, None if reachability is not asked for."""
    rules, known = environment.label_rules(kept)
    names = {*environment.propositions, *(name for rule in rules for name in rule.propositions)} - {ENDED}
    return Dataset(
        environment.num_observations,
        environment.num_actions,
        environment.horizon,
        pairs=kept.pairs,
        successors=kept.successors,
        counts=kept.counts,
        first_counts=kept.first_counts,
        labelling=RuleLabelling(rules),
        labels_known=known,
        absorbing=environment.absorbing,
        reachability=np.zeros(len(kept.first_counts)) if every is None else _reachability(every, environment),
        propositions=tuple(sorted(names)),
        observation_names=environment.observation_names,
        action_names=environment.action_names,
        sources=(source,),
        fixed_machines=fixed_machines,
        fixed_shares=len(fixed_machines),
    )


def _reachability(every: Counted, environment: Environment) -> NDArray[np.float64]:
    """Estimate max_π Σ_h μ^π_h(o) for every o: the optimum in p̂ of all that was played, the search included.

    Where that would take too long, the mean number of visits in an episode stands for it, which is lower.
    """
    from scipy.sparse import csr_array

    size, num_actions = environment.num_observations, environment.num_actions
    visits = np.bincount(every.pairs, every.counts, size * num_actions)
    if len(every.counts) * size * environment.horizon > MAX_WORK:
        mean: NDArray[np.float64] = visits.reshape(size, num_actions).sum(axis=1) / every.num_episodes
        return mean
    probs = every.counts / visits[every.pairs]
    kernel = csr_array((probs, (every.pairs, every.successors)), shape=(size * num_actions, size))
    most = most_visits(kernel, num_actions, environment.horizon, np.arange(size), None)
    found: NDArray[np.float64] = most @ (every.first_counts / every.num_episodes)
    return found
