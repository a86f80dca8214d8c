"""What there is to see of a policy: where it goes in each machine state, and what it does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.pictures.task_picture import MAX_SPOTS, task_picture
from praemia.planning.exact import evaluate, occupancy, solve, validate_policy
from praemia.planning.losses import losses
from praemia.planning.policy import PolicyLike, policy_array
from praemia.tasks.machine_sampler import settled_states
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

NEVER = 1e-12
MAX_PANELS = 6
MISTAKE = 0.01
MOVES = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0), "stay": (0.0, 0.0)}


def has_map(task: Task) -> bool:
    """Tell whether a policy can be drawn with arrows: all actions are moves, and the task is not too large."""
    is_small = task.num_observations <= MAX_SPOTS
    return is_small and all(task.mdp.action_name(a) in MOVES for a in range(task.num_actions))


@dataclass(frozen=True, eq=False)
class PolicyView:
    """A policy as it is shown.

    Attributes
    ----------
    picture : the picture of the task.
    value : the expected return of the policy, exact; optimal : whether the policy is the optimum that ``solve`` finds.
    visits : float64[M, O], the expected number of steps in each machine state and place in an episode.
    lost : float64[M, O], what the policy loses there against the optimum, in an episode; the sum is all that it lacks.
    actions : int64[M, O], the action that is taken there most often over the steps; −1 where the policy never is.
    states : the machine states to show, those visited most; left out are states from which nothing more is
        paid, if there are others.
    hidden : how many more are visited.
    """

    task: Task
    picture: Picture
    value: float
    optimal: bool
    visits: NDArray[np.float64]
    lost: NDArray[np.float64]
    actions: NDArray[np.int64]
    states: tuple[int, ...]
    hidden: int

    @classmethod
    def of(cls, task: Task, policy: PolicyLike | None = None) -> PolicyView:
        """Find where a policy goes; None is the optimal policy."""
        plan = solve(task)
        if policy is None:
            table, value, lost = plan.policy, plan.value, np.zeros((task.num_machine_states, task.num_observations))
        else:
            validate_policy(task, policy)
            table, value = policy_array(policy), evaluate(task, policy, keep_values=False).value
            lost = losses(task, policy, plan)
        steps = occupancy(task, table).states[:-1]
        visits = steps.sum(axis=0)
        lively = [
            m for m in np.flatnonzero(visits.max(axis=1) > NEVER).tolist() if m not in settled_states(task.machine)
        ]
        states = lively or [int(visits.sum(axis=1).argmax())]
        most = sorted(states, key=lambda m: -visits[m].sum())[:MAX_PANELS]
        actions = _favourite(table, steps, task.num_actions)
        hidden = len(states) - len(most)
        return cls(task, task_picture(task), value, policy is None, visits, lost, actions, tuple(sorted(most)), hidden)

    @property
    def has_map(self) -> bool:
        """Whether actions are moves in the plane, so that arrows tell them."""
        return has_map(self.task)

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        whose = "the optimal policy" if self.optimal else "a policy"
        lacks = f", {self.lost.sum():.2g} less than the optimum" if self.lost.sum() > NEVER else ""
        return f"{self.task.name}: {whose}, worth {self.value:.4g} per episode{lacks}"

    @property
    def mistakes(self) -> NDArray[np.bool_]:
        """bool[M, O], where the policy loses at least a hundredth of all that it lacks."""
        return self.lost > max(NEVER, MISTAKE * float(self.lost.sum()))

    @property
    def left_out(self) -> str:
        """Say what is not shown; nothing, if all is."""
        return f"{self.hidden:,} more machine states are visited, less often." if self.hidden else ""

    def action_name(self, m: int, o: int) -> str:
        """The name of the action shown in a place; empty where the policy never is."""
        return self.task.mdp.action_name(int(self.actions[m, o])) if self.actions[m, o] >= 0 else ""


def _favourite(policy: NDArray[Any], steps: NDArray[np.float64], num_actions: int) -> NDArray[np.int64]:
    """Return the action taken most often, int64[M, O], from a policy [H, M, O(, A)] and visits [H, M, O]."""
    taken = [policy == a if policy.ndim == 3 else policy[..., a] for a in range(num_actions)]
    weights = np.stack([(steps * part).sum(axis=0) for part in taken])
    return np.where(weights.sum(axis=0) > NEVER, weights.argmax(axis=0), -1)
