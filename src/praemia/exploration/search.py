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

from praemia.errors import ParameterError
from praemia.exploration.planners import SureActions
from praemia.exploration.trajectories import Histories, HistoryPolicy, Trajectory, TrajectoryReward, pick

TRUSTED = 8  # from this many visits on, a node's choice is played; below, the policy searches again
SETTLED = 1e-12  # bounds this close count as equal


@dataclass(eq=False)
class Node:
    """A history in the tree.

    Attributes
    ----------
    lower, upper, estimate : of what can follow. action : the choice; is_trusted : whether it is played.
    visits : how often it was met. tries : how often each action was tried; none if the history is over.
    following : what can follow each action, with its probability; children : the nodes of those that were met.
    """

    history: Trajectory
    lower: float
    upper: float
    estimate: float
    tries: list[int]
    following: list[list[tuple[Trajectory, float]]] = field(default_factory=list)
    children: dict[Trajectory, Node] = field(default_factory=dict)
    visits: int = 0
    action: int = 0
    is_trusted: bool = False

    @property
    def is_expanded(self) -> bool:
        return any(self.tries)

    @property
    def is_solved(self) -> bool:
        return not self.tries or (self.is_expanded and self.upper - self.lower <= SETTLED)


@dataclass(frozen=True, eq=False)
class Search:
    """One tree, grown from a history."""

    histories: Histories
    reward: TrajectoryReward
    rng: np.random.Generator
    exploration: float

    def grow(self, history: Trajectory, simulations: int) -> Node:
        """Return the root of a tree grown by at most ``simulations`` simulations."""
        root = self._new(history)
        for _ in range(simulations):
            if root.is_solved:
                break
            self._simulate(root)
        return root

    def _range(self, history: Trajectory) -> tuple[float, float]:
        return self.reward.range_after(history, self.histories.horizon)

    def _new(self, history: Trajectory) -> Node:
        lower, upper = self._range(history)
        if history.is_over(self.histories.horizon):
            return Node(history, lower, upper, lower, [])
        return Node(history, lower, upper, self._roll_out(history), [0] * self.histories.num_actions)

    def _roll_out(self, history: Trajectory) -> float:
        while not history.is_over(self.histories.horizon):
            following = self.histories.after(history, int(self.rng.integers(self.histories.num_actions)))
            if not following:
                return 0.0
            history = pick(following, self.rng.random())
        return self.reward(history)

    def _simulate(self, root: Node) -> None:
        path, node = [root], root
        while not node.is_solved:
            if not node.following:
                node.following = [self.histories.after(node.history, a) for a in range(len(node.tries))]
            a = self._choose(node)
            node.tries[a] += 1
            if not node.following[a]:
                break
            longer = self._draw(node, a)
            is_new = longer not in node.children
            if is_new:
                node.children[longer] = self._new(longer)
            node = node.children[longer]
            path.append(node)
            if is_new:
                break
        for node in reversed(path):
            self._back_up(node)

    def _draw(self, node: Node, a: int) -> Trajectory:
        """Draw the next history among those whose value is not settled yet."""
        children = node.children
        unsettled = [(h, p) for h, p in node.following[a] if not (h in children and children[h].is_solved)]
        if not unsettled:
            return node.following[a][0][0]
        total = math.fsum(p for _, p in unsettled)
        return pick([(h, p / total) for h, p in unsettled], self.rng.random())

    def _choose(self, node: Node) -> int:
        untried = [a for a, tries in enumerate(node.tries) if tries == 0]
        if untried:
            return untried[int(self.rng.integers(len(untried)))]
        scale = self.exploration * self.reward.bound * math.sqrt(math.log(node.visits + 1.0))
        values = [self._action(node, a) for a in range(len(node.tries))]
        floor = max(low for _, low, _ in values)
        # What is settled, or cannot beat what is certain already, needs no more visits.
        open_actions = [a for a, (_, low, high) in enumerate(values) if high - low > SETTLED and high > floor]
        score = {a: values[a][0] + scale / math.sqrt(node.tries[a]) for a in open_actions}
        return max(open_actions, key=score.__getitem__, default=node.action)

    def _action(self, node: Node, a: int) -> tuple[float, float, float]:
        """Return the estimate and the bounds of an action at a node."""
        low, high, mean, mass = 0.0, 0.0, 0.0, 0.0
        for longer, p in node.following[a]:
            child = node.children.get(longer)
            if child is None:
                lower, upper = self._range(longer)
            else:
                lower, upper = child.lower, child.upper
                mean, mass = mean + p * child.estimate, mass + p
            low, high = low + p * lower, high + p * upper
        estimate = mean / mass if mass > 0.0 else low
        return min(max(estimate, low), high), low, high

    def _back_up(self, node: Node) -> None:
        node.visits += 1
        if not node.is_expanded:
            return
        values = [self._action(node, a) for a in range(len(node.tries))]
        tried = [a for a, tries in enumerate(node.tries) if tries > 0]
        node.action = max(tried, key=lambda a: values[a][:2])
        node.estimate, low, _ = values[node.action]
        node.upper = min(node.upper, max(high for _, _, high in values))
        # The lower bound is that of the choice stored here, so it may be claimed only where that choice is played.
        node.is_trusted = node.visits >= TRUSTED or node.upper - low <= SETTLED
        node.lower = low if node.is_trusted else self._range(node.history)[0]


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

    def plan(self, histories: Histories, reward: TrajectoryReward) -> tuple[HistoryPolicy, float]:
        if self.simulations < 1:
            raise ParameterError(f"simulations={self.simulations}; expected at least 1")
        actions: dict[Trajectory, int] = {}

        def grow(history: Trajectory) -> Node:
            """Search from a history and keep the choices of the nodes that are trusted."""
            rng = np.random.default_rng((self.seed, *history.observations, *history.actions))
            root = Search(histories, reward, rng, self.exploration).grow(history, self.simulations)
            stack = [root]
            while stack:
                node = stack.pop()
                if node.is_expanded and (node is root or node.is_trusted):
                    actions.setdefault(node.history, node.action)
                    stack += [
                        node.children[longer] for longer, _ in node.following[node.action] if longer in node.children
                    ]
            return root

        def choose(history: Trajectory) -> int:
            if history not in actions:
                grow(history)  # what the tree does not reach gets its own
            return actions[history]

        roots = [(grow(history), p) for history, p in histories.starts]
        alpha = sum((p * (root.upper - root.lower) for root, p in roots), 0.0)
        return SureActions(choose, histories.num_actions), alpha
