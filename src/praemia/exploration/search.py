"""Search over histories for any reward F(η): UCT with exact backups and bounds, so that its α is certified.

A node is a history. Each simulation walks down from the start: the action maximises V̂ + c·G·√(ln n/n_a) (UCT), the next
observation is drawn from p̂, a new node is rolled out uniformly at random. On the way back, three numbers are backed up
with the known p̂ instead of averaging what was sampled (as DP-UCT does, Keller and Helmert 2013):

    estimate V̂ = max_a Σ_z p̂(z)·V̂(z)  (over the z met so far),   upper U = max_a Σ_z p̂(z)·U(z),
    lower L = Σ_z p̂(z)·L(z) along the action that the plan takes.

Leaves have the bounds that the reward declares for what may still come, at least [0, G]. The plan takes the action with
the largest V̂, so its value in p̂ is at least L(start) while no policy exceeds U(start): α = U − L, and it is 0 when the
tree is complete. A history outside the tree gets its own search when the policy first needs it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError
from praemia.exploration.planners import one_hot
from praemia.exploration.trajectories import HistoryPolicy, KernelView, Trajectory, TrajectoryReward, pick

TRUSTED = 8  # from this many visits on, a node's choice is played; below, the policy searches again
SETTLED = 1e-12  # bounds this close count as equal


@dataclass(eq=False)
class Node:
    """A history in the tree. ``children[a]`` maps the next observations met to their nodes."""

    history: Trajectory
    lower: float
    upper: float
    estimate: float
    final: bool
    visits: int = 0
    expanded: bool = False
    trusted: bool = False
    tries: list[int] = field(default_factory=list)
    children: list[dict[int, Node]] = field(default_factory=list)
    action: int = 0

    @property
    def solved(self) -> bool:
        return self.final or (self.expanded and self.upper - self.lower <= SETTLED)


@dataclass(eq=False)
class Search:
    """One tree, grown from a history."""

    view: KernelView
    reward: TrajectoryReward
    horizon: int
    rng: np.random.Generator
    exploration: float

    def grow(self, history: Trajectory, simulations: int) -> Node:
        """Return the root of a tree grown by at most ``simulations`` simulations."""
        root = self._new(history)
        for _ in range(simulations):
            if root.solved:
                break
            self._simulate(root)
        return root

    def _new(self, history: Trajectory) -> Node:
        lower, upper = self.reward.range_after(history, self.horizon)
        final = history.is_over(self.horizon)
        node = Node(history, lower, upper, lower, final)
        if not final:
            node.tries = [0] * self.view.num_actions
            node.children = [{} for _ in range(self.view.num_actions)]
            node.estimate = self._roll_out(history)
        return node

    def _roll_out(self, history: Trajectory) -> float:
        while not history.is_over(self.horizon):
            a = int(self.rng.integers(self.view.num_actions))
            successors, probs = self.view.row(history.last, a)
            if not successors:
                return 0.0
            history = self.view.after(history, a, pick(successors, probs, self.rng.random()))
        return self.reward(history)

    def _simulate(self, root: Node) -> None:
        path, node = [root], root
        while not node.final and not node.solved:
            a = self._choose(node)
            node.tries[a] += 1
            node.expanded = True
            successors, probs = self.view.row(node.history.last, a)
            if not successors:
                break
            z = self._draw(node, a, successors, probs)
            child = node.children[a].get(z)
            if child is None:
                node.children[a][z] = child = self._new(self.view.after(node.history, a, z))
                path.append(child)
                break
            node = child
            path.append(node)
        for node in reversed(path):
            self._back_up(node)

    def _draw(self, node: Node, a: int, successors: list[int], probs: list[float]) -> int:
        """Draw the next observation among those whose value is not settled yet."""
        children = node.children[a]
        unsettled = [
            (z, p) for z, p in zip(successors, probs, strict=True) if not (z in children and children[z].solved)
        ]
        if not unsettled:
            return successors[0]
        total = math.fsum(p for _, p in unsettled)
        return pick([z for z, _ in unsettled], [p / total for _, p in unsettled], self.rng.random())

    def _choose(self, node: Node) -> int:
        untried = [a for a, tries in enumerate(node.tries) if tries == 0]
        if untried:
            return untried[int(self.rng.integers(len(untried)))]
        scale = self.exploration * self.reward.bound * math.sqrt(math.log(node.visits + 1.0))
        values = [self._action(node, a) for a in range(self.view.num_actions)]
        floor = max(low for _, low, _ in values)
        best, action = -math.inf, node.action
        for a, (estimate, low, high) in enumerate(values):
            # What is settled, or cannot beat what is certain already, needs no more visits.
            if high - low <= SETTLED or high <= floor:
                continue
            score = estimate + scale / math.sqrt(node.tries[a])
            if score > best:
                best, action = score, a
        return action

    def _action(self, node: Node, a: int) -> tuple[float, float, float]:
        """Return the estimate and the bounds of an action at a node."""
        successors, probs = self.view.row(node.history.last, a)
        low, high, mean, mass = 0.0, 0.0, 0.0, 0.0
        for z, p in zip(successors, probs, strict=True):
            child = node.children[a].get(z)
            if child is None:
                ends = self.reward.range_after(self.view.after(node.history, a, z), self.horizon)
                low, high = low + p * ends[0], high + p * ends[1]
            else:
                low, high = low + p * child.lower, high + p * child.upper
                mean, mass = mean + p * child.estimate, mass + p
        estimate = mean / mass if mass > 0.0 else low
        return min(max(estimate, low), high), low, high

    def _back_up(self, node: Node) -> None:
        node.visits += 1
        if node.final or not node.expanded:
            return
        values = [self._action(node, a) for a in range(self.view.num_actions)]
        tried = [a for a, tries in enumerate(node.tries) if tries > 0]
        node.action = max(tried, key=lambda a: values[a][:2])
        node.estimate, low, _ = values[node.action]
        node.upper = min(node.upper, max(high for _, _, high in values))
        # The lower bound is that of the choice stored here, so it may be claimed only where that choice is played.
        node.trusted = node.visits >= TRUSTED or node.upper - low <= SETTLED
        node.lower = low if node.trusted else self.reward.range_after(node.history, self.horizon)[0]


@dataclass(eq=False)
class SearchPolicy:
    """Follow the tree from the start; where it ends, grow another. Its choices depend only on past queries."""

    planner: SearchPlanner
    view: KernelView
    reward: TrajectoryReward
    horizon: int
    actions: dict[Trajectory, int] = field(default_factory=dict)

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        if history not in self.actions:
            self.grow(history)
        return one_hot(self.actions[history], self.view.num_actions)

    def grow(self, history: Trajectory) -> Node:
        """Search from a history and keep the choices of the nodes that are trusted."""
        seed = (self.planner.seed, *history.observations, *history.actions)
        search = Search(self.view, self.reward, self.horizon, np.random.default_rng(seed), self.planner.exploration)
        root = search.grow(history, self.planner.simulations)
        stack = [root]
        while stack:
            node = stack.pop()
            if node.expanded and (node is root or node.trusted):
                self.actions.setdefault(node.history, node.action)
                stack.extend(node.children[node.action].values())
        return root


@dataclass(frozen=True)
class SearchPlanner:
    """UCT over histories.

    Parameters
    ----------
    simulations : of each search. exploration : c in V̂ + c·G·√(ln n/n_a). seed : the random seed.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import SearchPlanner
    >>> task = praemia.envs.riverswim(size=3, horizon=3)
    >>> data = praemia.explore(task, episodes=200, method="uncertainty", seed=0)
    >>> plan = praemia.plan_from(data, praemia.CoverageReward([1, 1, 1]), planner=SearchPlanner(simulations=500))
    >>> 0 <= plan.alpha <= 3
    True
    """

    simulations: int = 5_000
    exploration: float = 0.5
    seed: int = 0
    name: str = "search"

    def plan(self, view: KernelView, reward: TrajectoryReward, horizon: int) -> tuple[HistoryPolicy, float]:
        if self.simulations < 1:
            raise ParameterError(f"simulations={self.simulations}; expected at least 1")
        policy = SearchPolicy(self, view, reward, horizon)
        alpha = 0.0
        for o, p in zip(*view.start, strict=True):
            root = policy.grow(Trajectory((o,), ()))
            alpha += p * (root.upper - root.lower)
        return policy, alpha
