"""What a learner may look at when it plans: the task without its transition probabilities, and what was counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia._support.limits import require_memory
from praemia.kernels.counts import RECENT, TRANSITIONS, Counts
from praemia.kernels.records import Actions
from praemia.tasks.model import read_only
from praemia.tasks.spec import TaskSpec
from praemia.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Recent:
    """The transitions of the last episode so far, for learners that learn from steps and not from counts.

    Attributes
    ----------
    steps : int32[n, 6], the rows (o, a, o', label, m, m'); rewards : float64[n]. Where a transition
        ended the episode, the last row has O + o' in place of o'; where the machine is done, n may be less than H too.
    """

    steps: NDArray[np.int32]
    rewards: NDArray[np.float64]


class Transitions(NamedTuple):
    """The distinct transitions seen, one per row, and how often each occurred. All arrays have the same length."""

    observations: NDArray[np.int64]
    actions: NDArray[np.int64]
    successors: NDArray[np.int64]
    labels: NDArray[np.int64]  # indices into ``spec.label_sets``
    ends: NDArray[np.bool_]  # whether the episode was over then
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Experience:
    """The data that a learner plans from. Its arrays are read-only, and valid until ``plan`` returns.

    It holds observed data only: nothing in it reveals a transition that has not occurred yet.

    Attributes
    ----------
    spec : the known part of the task; for a learner on the product, that of the product task.
    num_episodes : K, the number of episodes in the run; ⌈n/H⌉ for a run of n steps, which has more if some end early.
    episodes_played : those played so far.
    truth : the task itself, for ``privileged`` learners only.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> class Watcher(praemia.Learner):
    ...     def plan(self, experience, previous, rng):
    ...         print(experience.episodes_played, experience.visits.sum())
    ...         spec = experience.spec
    ...         shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    ...         return praemia.LearnerPlan(np.zeros(shape, dtype=int))
    >>> run = praemia.simulate(praemia.envs.riverswim(), Watcher(replan="episode"), num_episodes=3)
    0 0
    1 10
    2 20
    """

    spec: TaskSpec
    num_episodes: int
    episodes_played: int
    _counts: Counts = field(repr=False)
    truth: Task | None = None
    _policy: Actions | None = field(default=None, repr=False)  # [H, O, M], the policy played so far
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)  # what plans of a run work in, as long as it fits

    def _later(self, episodes_played: int, policy: Actions | None) -> Experience:
        """Return the experience after more episodes, counted in the same arrays. Nothing else was looked up in this."""
        later = object.__new__(Experience)
        vars(later).update(vars(self), episodes_played=episodes_played, _policy=policy, visits=self.visits)
        return later

    @property
    def num_steps(self) -> int:
        """T = K · H."""
        return self.num_episodes * self.spec.horizon

    @cached_property
    def visits(self) -> NDArray[np.int64]:
        """int64[O, A], how often each action was taken in each observation: N(o, a)."""
        return read_only(self._counts.visits.reshape(self.spec.num_observations, -1))

    @cached_property
    def _seen(self) -> NDArray[np.void]:
        return self._counts.transitions[: self._counts.totals[TRANSITIONS]]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """int64[O, A], how often an episode ended with each action in each observation."""
        seen, size = self._seen, self.spec.num_observations
        ended = seen[seen["target"] >= size]
        sums = np.bincount(ended["pair"], ended["count"], minlength=len(self._counts.visits))
        return read_only(sums.astype(np.int64).reshape(size, -1))

    @cached_property
    def transitions(self) -> Transitions:
        """The distinct transitions seen, pair by pair. Its size depends on what was seen, not on the task."""
        seen = self._seen[np.argsort(self._seen["pair"], kind="stable")]
        observations, actions = np.divmod(seen["pair"].astype(np.int64), self.spec.num_actions)
        ends, successors = np.divmod(seen["target"].astype(np.int64), self.spec.num_observations)
        label, count = (seen[name].astype(np.int64) for name in ("label", "count"))
        return Transitions(*map(read_only, (observations, actions, successors, label, ends > 0, count)))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """int64[O, A, O], how often each transition was seen: N(o, a, o')."""
        shape = (self.spec.num_observations, self.spec.num_actions, self.spec.num_observations)
        require_memory(16 * shape[0] * shape[1] * shape[2], "a count for every (o, a, o'); use experience.transitions")
        dense, seen = np.zeros(shape, dtype=np.int64), self.transitions
        # A black box may label one (o, a, o') in several ways; they are added up.
        np.add.at(dense, (seen.observations, seen.actions, seen.successors), seen.counts)
        return read_only(dense)

    @cached_property
    def estimated_probs(self) -> NDArray[np.float64]:
        """float64[O, A, O], p̂(o'|o, a) = N(o, a, o')/N(o, a); 0 where a pair was never visited."""
        return read_only(self.counts / np.maximum(1, self.visits)[..., None])

    @property
    def step_visits(self) -> NDArray[np.int32]:
        """int32[H + 1, O], how often each observation was met at each step, for learners with ``uses_steps``."""
        return read_only(self._counts.step_visits)

    @cached_property
    def met(self) -> NDArray[np.int64]:
        """The observations met so far."""
        return read_only(np.flatnonzero(self._counts.is_met))

    @cached_property
    def recent(self) -> Recent | None:
        """The last episode, as far as it was played, for learners with ``uses_recent``; None before the first."""
        size = int(self._counts.totals[RECENT])
        return (
            Recent(read_only(self._counts.recent[:size]), read_only(self._counts.recent_rewards[:size]))
            if size
            else None
        )

    @property
    def machine_visits(self) -> NDArray[np.float64]:
        """float64[L, M], how often each label came in each machine state, where the machine is learned."""
        return read_only(self._counts.machine.visits)

    @property
    def machine_moves(self) -> NDArray[np.float64]:
        """float64[L, M, M], how often each machine state came next, where the machine is learned."""
        return read_only(self._counts.machine.moves)

    @property
    def machine_reward_sums(self) -> NDArray[np.float64]:
        """float64[L, M], the sums of the rewards, in the unit range, where the machine is learned."""
        return read_only(self._counts.machine.rewards)

    def backup(
        self, values: ArrayLike, step: int, machine: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Take one backward step under p̂ and the machine: mean and standard deviation of Y = φ + γW, [M, O, A] each.

        Pairs never visited have mean 0 and deviation 0: write ``np.where(experience.visits > 0, Q, cap)``.

        Parameters
        ----------
        values : float64[M, O], V_{h+1}, not discounted; rewards are those of the unit range. γ and the value of ended
            episodes are applied here.
        step : h, from 0 to H − 1.
        machine : as in ``plan_with_bonus``, if the machine is learned.

        Examples
        --------
        >>> import numpy as np
        >>> import praemia
        >>> class Greedy(praemia.Learner):
        ...     def plan(self, experience, previous, rng):
        ...         spec = experience.spec
        ...         values = np.zeros((spec.num_machine_states, spec.num_observations))
        ...         policy = np.zeros((spec.horizon, *values.shape), dtype=int)
        ...         for step in reversed(range(spec.horizon)):
        ...             mean, deviation = experience.backup(values, step)
        ...             q = np.where(experience.visits > 0, mean, spec.value_caps[step])
        ...             values, policy[step] = q.max(-1), q.argmax(-1)
        ...         return praemia.LearnerPlan(policy, values)
        >>> praemia.simulate(praemia.envs.make("warehouse-3"), Greedy(), num_episodes=50).learner
        'greedy'
        """
        from praemia.learners.backward import back_up_values

        return back_up_values(self, values, step, machine)
