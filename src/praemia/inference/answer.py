"""What ``praemia.infer`` answers: the machine, and how far the traces support it, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from praemia.displayed import Displayed
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine

INTERVAL_LEVEL = 0.95  # for all intervals of a machine together


@dataclass(frozen=True)
class Edge:
    """What the data says about one way out of a state, on one label.

    Attributes
    ----------
    label : what came in the state; reward : what was paid.
    count : how often this happened, ``of`` so many times that the label came in this state; if the machine is fitted,
        how often this is expected to have happened.
    probability : count/of; interval : where the true one lies, by an exact test, or approximately if the machine is
        fitted. All intervals of a machine hold together w.p. 0.95, if its states are the right ones.
    """

    source: str
    label: Label
    reward: float
    target: str
    count: float
    of: float
    interval: tuple[float, float]

    @property
    def probability(self) -> float:
        return self.count / self.of


@dataclass(frozen=True)
class HeldOut:
    """How a machine inferred from the other episodes predicts held-out ones.

    Attributes
    ----------
    log_likelihood : nats per step of their rewards, given the labels; base_rate : the same if only labels are used.
    explained : the share of these episodes all of whose rewards the machine can pay.
    same_states : whether the machine inferred without them has as many states.
    """

    episodes: int
    log_likelihood: float
    base_rate: float
    explained: float
    same_states: bool


@dataclass(frozen=True)
class Inference(Displayed):
    """A machine inferred from traces, with what supports it.

    Attributes
    ----------
    machine : it explains every episode, and no two of its states are equivalent.
    is_fitted : whether some of its moves are hidden, so that its probabilities are fitted rather than counted.
    edges : each way out of a state, with how often it was seen, and an interval for its probability.
    why_probabilistic : why the machine is, though no two episodes contradict a deterministic one; else None.
    is_smallest : whether the traces prove that no deterministic machine with fewer states explains them.
    not_identifiable : what the traces cannot tell, with the states in question.
    close_calls : what they barely tell: a machine at most 20 times less likely has this edge lead elsewhere.
    outside_class : why the machine lies outside the class in which label and reward fix the next state, and is fitted;
        None if nothing says so.
    held_out : how well held-out episodes are predicted; None if there are too few.

    Examples
    --------
    >>> import praemia
    >>> first, second = [({"item"}, 0.0), ({"door"}, 1.0)], [({"door"}, 0.0), ({"item"}, 0.0), ({"door"}, 1.0)]
    >>> inference = praemia.infer([first, second])
    >>> inference.machine.num_states, inference.is_smallest, inference.num_steps
    (2, True, 5)
    """

    machine: RewardMachine
    is_fitted: bool
    edges: tuple[Edge, ...]
    is_smallest: bool
    why_probabilistic: str | None
    not_identifiable: tuple[str, ...]
    close_calls: tuple[str, ...]
    outside_class: str | None
    held_out: HeldOut | None
    num_episodes: int
    num_steps: int

    @property
    def visits(self) -> dict[str, int]:
        """How many steps were taken in each state, or are expected to have been."""
        return {
            state: round(sum(edge.count for edge in self.edges if edge.source == state))
            for state in self.machine.states
        }

    @property
    def is_deterministic(self) -> bool:
        """Whether every label that was seen in a state always led to one state and one reward."""
        return all(edge.count == edge.of for edge in self.edges)

    def __repr__(self) -> str:
        return f"Inference({self.lines()[0]})"

    def lines(self) -> list[str]:
        """Describe the machine and what supports it, line by line."""
        kind = "fitted" if self.is_fitted else "deterministic" if self.is_deterministic else "probabilistic"
        size = f"{self.machine.num_states} state" + ("s" if self.machine.num_states != 1 else "")
        size += " and hidden moves" if self.is_fitted else ""
        smallest = ", proved smallest" if self.is_smallest else ""
        lines = [f"a {kind} machine with {size}{smallest}, from {self.num_episodes:,} episodes"]
        if self.held_out is not None:
            held = self.held_out
            lines.append(
                f"held out: {held.explained:.1%} of {held.episodes:,} episodes explained; "
                f"{held.log_likelihood:.4f} nats per step (labels alone: {held.base_rate:.4f})"
            )
        lines += [f"taken as probabilistic: {self.why_probabilistic}"] if self.why_probabilistic else []
        lines += [f"outside the class: {self.outside_class}"] if self.outside_class else []
        lines += [f"not identifiable: {text}" for text in self.not_identifiable]
        return lines + [f"close call: {text}" for text in self.close_calls]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine as plain data."""
        return {
            "states": self.machine.num_states,
            "deterministic": self.is_deterministic,
            "fitted": self.is_fitted,
            "smallest": self.is_smallest,
            "episodes": self.num_episodes,
            "steps": self.num_steps,
            "visits": self.visits,
            "edges": [
                {
                    "from": edge.source,
                    "label": sorted(edge.label),
                    "reward": edge.reward,
                    "to": edge.target,
                    "count": edge.count,
                    "of": edge.of,
                    "probability": edge.probability,
                    "interval": list(edge.interval),
                }
                for edge in self.edges
            ],
            "not_identifiable": list(self.not_identifiable),
            "close_calls": list(self.close_calls),
            "why_probabilistic": self.why_probabilistic,
            "outside_class": self.outside_class,
            "held_out": None if self.held_out is None else vars(self.held_out),
        }
