"""Plan for any reward F(η) by search over histories (UCT), with bounds that certify its α.

A node is a history. Each simulation walks down from the start: the action maximises V̂ + c·G·√(ln n/n_a), the next
observation is sampled from p̂, a new node is rolled out uniformly at random. On the way back, three numbers are backed
up with p̂ itself instead of averaging what was sampled (as DP-UCT does, Keller and Helmert 2013):

    estimate V̂ = max_a Σ_z p̂(z)·V̂(z)  (over the z met so far),   upper U = max_a Σ_z p̂(z)·U(z),
    lower L = Σ_z p̂(z)·L(z) along the action that the plan takes.

They begin with [0, G], and with F itself where the history is over. The plan takes the action with the largest V̂, so
its value in p̂ is at least L(start), while no policy exceeds U(start): α = U − L, and it is 0 when the tree is complete.
Histories after which not all actions were tried get a search of their own when the policy first needs them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.estimate import Value
from praemia.exploration.trajectories import Histories, Trajectory, TrajectoryReward

SIMULATIONS = 2_000
EXPLORATION = 0.5  # c
SETTLED = 1e-12  # bounds this close count as equal


@dataclass(eq=False)
class Node:
    """A history in the tree.

    Attributes
    ----------
    lower, upper, estimate : of what can follow. action : the choice, once all actions were tried.
    tries : how often each action was tried; none if the history is over.
    following : for each action that was tried, the histories that can follow, with their probabilities.
    children : the nodes of those that were met, by action and place.
    """

    history: Trajectory
    lower: float
    upper: float
    estimate: float
    tries: list[int]
    following: dict[int, list[tuple[Trajectory, float]]] = field(default_factory=dict)
    children: dict[tuple[int, int], Node] = field(default_factory=dict)
    visits: int = 0
    action: int = 0

    @property
    def is_settled(self) -> bool:
        return self.upper - self.lower <= SETTLED

    def of_action(self, a: int, most: float) -> tuple[float, float, float]:
        """Return the estimate and the bounds of an action that was tried; a history not met yet has [0, most]."""
        low, high, mean, mass = 0.0, 0.0, 0.0, 0.0
        for i, (_, p) in enumerate(self.following[a]):
            child = self.children.get((a, i))
            if child is None:
                high += p * most
            else:
                low, high = low + p * child.lower, high + p * child.upper
                mean, mass = mean + p * child.estimate, mass + p
        estimate = mean / mass if mass > 0.0 else low
        return min(max(estimate, low), high), low, high


@dataclass(frozen=True, eq=False)
class SearchPolicy:
    """The policy of a search, which goes on when it meets histories that were not searched."""

    histories: Histories
    reward: TrajectoryReward
    simulations: int = SIMULATIONS
    seed: int = 0
    _actions: dict[Trajectory, int] = field(default_factory=dict, repr=False)

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        """Return the probability of each action, float64[A]: 1 for the one that is chosen."""
        if history not in self._actions:
            self.search(history)
        probs = np.zeros(self.histories.num_actions)
        probs[self._actions.get(history, 0)] = 1.0
        return probs

    def value(self) -> Value:
        """Search from every start; return V̂ with L, below this policy's value, and U, which no policy exceeds."""
        roots = [(self.search(history), p) for history, p in self.histories.starts]
        low, high, mean = (
            math.fsum(p * getattr(root, name) for root, p in roots) for name in ("lower", "upper", "estimate")
        )
        return Value(min(max(mean, low), high), low, high, high - low <= SETTLED)

    def search(self, history: Trajectory) -> Node:
        """Grow a tree from a history, and keep its choices."""
        rng = np.random.default_rng((self.seed, *history.observations, *history.actions))
        root, count = self._new(history, rng), max(self.simulations, self.histories.num_actions)
        while root.visits < count and not root.is_settled:
            self._simulate(root, rng)
        stack = [root]
        while stack:
            node = stack.pop()
            if node.tries and all(node.tries):
                self._actions.setdefault(node.history, node.action)
                stack += [child for (a, _), child in node.children.items() if a == node.action]
        return root

    def _new(self, history: Trajectory, rng: np.random.Generator) -> Node:
        if history.is_over(self.histories.horizon):
            value = self.reward(history)
            return Node(history, value, value, value, [])
        return Node(history, 0.0, self.reward.bound, self._roll_out(history, rng), [0] * self.histories.num_actions)

    def _roll_out(self, history: Trajectory, rng: np.random.Generator) -> float:
        """Return the reward of going on at random."""
        rows, num_actions = self.histories.rows, self.histories.num_actions
        observations, actions, ended = list(history.observations), list(history.actions), False
        for first, second in rng.random((self.histories.horizon - len(actions), 2)).tolist():
            actions.append(int(first * num_actions))
            row = rows[observations[-1] * num_actions + actions[-1]]
            if not row:
                return 0.0
            z, ended, _ = row[pick([p for _, _, p in row], second)]
            observations.append(z)
            if ended:
                break
        return self.reward(Trajectory(tuple(observations), tuple(actions), ended))

    def _simulate(self, root: Node, rng: np.random.Generator) -> None:
        path, node, is_new = [root], root, False
        while not (is_new or node.is_settled):
            a = self._choose(node, rng)
            node.tries[a] += 1
            if a not in node.following:
                node.following[a] = self.histories.after(node.history, a)
            following = node.following[a]
            met = [node.children.get((a, i)) for i in range(len(following))]
            open_probs = [
                0.0 if child and child.is_settled else p for child, (_, p) in zip(met, following, strict=True)
            ]
            if not any(open_probs):
                break
            i = pick(open_probs, rng.random() * math.fsum(open_probs))
            is_new = met[i] is None
            node = node.children.setdefault((a, i), met[i] or self._new(following[i][0], rng))
            path.append(node)
        for node in reversed(path):
            self._back_up(node)

    def _choose(self, node: Node, rng: np.random.Generator) -> int:
        """Return an action that was not tried yet, or else the one that UCT prefers of those that are still open."""
        untried = [a for a, tries in enumerate(node.tries) if tries == 0]
        if untried:
            return untried[int(rng.integers(len(untried)))]
        scale = EXPLORATION * self.reward.bound * math.sqrt(math.log(node.visits + 1.0))
        values = [node.of_action(a, self.reward.bound) for a in range(len(node.tries))]
        floor = max(low for _, low, _ in values)
        # What is settled, or cannot beat what is certain already, needs no more visits.
        score = {
            a: estimate + scale / math.sqrt(node.tries[a])
            for a, (estimate, low, high) in enumerate(values)
            if high - low > SETTLED and high > floor
        }
        return max(score, key=score.__getitem__, default=node.action)

    def _back_up(self, node: Node) -> None:
        """Back up what follows, once all actions were tried: only then the choice stored here is played."""
        node.visits += 1
        if node.tries and all(node.tries):
            values = [node.of_action(a, self.reward.bound) for a in range(len(node.tries))]
            node.action = max(range(len(values)), key=lambda a: values[a][:2])
            node.estimate, node.lower, _ = values[node.action]
            node.upper = min(node.upper, max(high for _, _, high in values))


def pick(weights: list[float], number: float) -> int:
    """Return the place at which the running sum of weights exceeds a number, or else the last one with a weight."""
    last = 0
    for i, weight in enumerate(weights):
        if weight > 0.0:
            last, number = i, number - weight
            if number < 0.0:
                break
    return last
