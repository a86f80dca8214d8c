"""Write a machine down edge by edge."""

from __future__ import annotations

import math
from collections.abc import Iterable

from praemia.errors import ModelError
from praemia.machines.formula import Formula
from praemia.machines.labels import several
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import TOLERANCE, Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard


class MachineBuilder:
    """Write a machine edge by edge, as you would draw it.

    Edges with the same source and the same guard are the outcomes of one rule. States have the order in which they are
    first named. The guard ``else`` matches all labels that no other edge of the state matches.

    Parameters
    ----------
    initial : the state in which episodes start.
    propositions : those of the labels; by default those that the guards read.
    first_match : whether the rules of a state are tried in order.

    Examples
    --------
    >>> import praemia
    >>> machine = (
    ...     praemia.MachineBuilder(initial="empty")
    ...     .edge("empty", "item", "loaded", probability=0.8)
    ...     .edge("empty", "item", "empty", probability=0.2)
    ...     .edge("loaded", "delivery", "done", reward=1)
    ...     .build()
    ... )
    >>> machine.states
    ('empty', 'loaded', 'done')
    """

    def __init__(self, initial: str, propositions: Iterable[str] | None = None, *, first_match: bool = False) -> None:
        self._initial = initial
        self._first_match = first_match
        self._propositions = None if propositions is None else several("propositions", propositions)
        self._states = {initial: None}
        self._rules: dict[tuple[str, Formula], list[Outcome]] = {}

    def edge(
        self,
        source: str,
        when: str | Formula,
        target: str,
        probability: float = 1.0,
        reward: float | Reward = 0.0,
    ) -> MachineBuilder:
        """Add an edge ``source --when | probability, reward--> target`` and return the builder."""
        guard = parse_guard(when) if isinstance(when, str) else when
        self._states |= {source: None, target: None}
        outcome = Outcome(target, float(probability), Reward.of(reward))
        self._rules.setdefault((source, guard), []).append(outcome)
        return self

    def build(self) -> RewardMachine:
        """Return the machine, or raise a ModelError that says what is wrong with it."""
        for (source, guard), outs in self._rules.items():
            rest = 1.0 - math.fsum(out.probability for out in outs)
            if TOLERANCE < rest < 1.0:
                raise ModelError(
                    f"state {source!r} on {str(guard)!r}: probabilities sum to {1.0 - rest:.12g}; they must sum to 1: "
                    f"add .edge({source!r}, {str(guard)!r}, {source!r}, probability={rest:.12g}) if the rest stays"
                )
        rules = tuple(Rule(source, guard, tuple(outs)) for (source, guard), outs in self._rules.items())
        read = dict.fromkeys(name for rule in rules for name in sorted(rule.guard.propositions()))
        propositions = tuple(read) if self._propositions is None else self._propositions
        return RewardMachine(tuple(self._states), self._initial, propositions, rules, first_match=self._first_match)
