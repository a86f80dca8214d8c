"""Probabilistic reward machines.

A machine is a tuple (states, initial state, propositions, rules). In state q, when a transition of the
environment carries the label σ, the one rule of q whose guard holds on σ is used: the machine moves to q' with
probability τ(q'|q, σ) and pays a reward drawn from ν(q, σ, q'). When no rule of q holds on σ it stays in q and
pays 0. Once an episode has ended (its label is then ``AFTER_THE_END``) the machine halts: no rule holds. A
deterministic machine is the case in which every rule has one outcome.

The guards of a state's rules exclude each other, so the order of rules means nothing. What is written in an order
(``first_match``, ``else``) is turned into such guards when the machine is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean, unknown_name
from praemia.machines.diagrams import MAX_STATES
from praemia.machines.guards import Constant, Else, Guard, overlap, parse_guard
from praemia.machines.labels import ENDED, Label, as_label
from praemia.machines.rewards import Reward, RewardRange
from praemia.machines.rules import NOTHING, Outcome, Rule, exclusive

if TYPE_CHECKING:
    from praemia.machines.symbolic import SymbolicMachine


@dataclass(frozen=True)
class RewardMachine:
    """A probabilistic reward machine: frozen, and valid once it exists.

    With ``first_match`` the rules of a state are tried in their order and the first whose guard holds is taken. A rule
    whose guard is ``else`` is taken where no other does, wherever it stands.
    ``idle_reward`` is what a step pays on which no rule holds: 0, but for a machine whose rewards were mapped.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.envs.warehouse().machine
    >>> machine.states, machine.initial, machine.is_deterministic
    (('empty', 'loaded', 'done'), 'empty', False)
    >>> [(outcome.target, outcome.probability) for outcome in machine.outcomes("empty", {"item"})]
    [('loaded', 0.8), ('empty', 0.2)]
    """

    states: tuple[str, ...]
    initial: str
    propositions: tuple[str, ...]
    rules: tuple[Rule, ...]
    idle_reward: Reward = NOTHING
    first_match: InitVar[bool] = False

    @classmethod
    def from_ltlf(
        cls,
        formula: str | Mapping[str, float],
        reward: float = 1.0,
        pay: str = "first",
        *,
        propositions: Iterable[str] | None = None,
        max_states: int = MAX_STATES,
    ) -> SymbolicMachine:
        """Return the smallest machine that pays for traces that satisfy a formula of LTL on finite traces.

        Parameters
        ----------
        formula : such as ``F(item & X F delivery)``, or several with the reward of each: what they pay is added up.
        pay : ``"first"``: when what was seen so far satisfies the formula for the first time; ``"each"``: at every step
            at which it does; ``"end"``: an episode has earned ``reward`` if all of it satisfies the formula, else 0.
        propositions : those that labels may have; by default, those of the formula.
        """
        from praemia.machines.from_formulas import machine_from

        return machine_from("formula", formula, reward, pay, propositions, max_states)

    @classmethod
    def from_regex(
        cls,
        expression: str | Mapping[str, float],
        reward: float = 1.0,
        pay: str = "first",
        *,
        propositions: Iterable[str] | None = None,
        max_states: int = MAX_STATES,
    ) -> SymbolicMachine:
        """Return the smallest machine that pays when all that was seen so far matches a regular expression.

        Letters are guards: ``(!item)* item (!delivery)* delivery``. The rest is as for formulas.
        """
        from praemia.machines.from_formulas import machine_from

        return machine_from("regex", expression, reward, pay, propositions, max_states)

    def __post_init__(self, first_match: bool) -> None:
        guards = exclusive([(rule.source, rule.guard) for rule in self.rules], first_match)
        matched = zip(self.rules, guards, strict=True)
        rules = tuple(
            rule if rule.guard is guard else replace(rule, guard=guard, written=rule.written or rule.guard)
            for rule, guard in matched
        )
        object.__setattr__(self, "rules", rules)
        self._validate_names("state", self.states)
        self._validate_names("proposition", self.propositions)
        if ENDED in self.propositions:
            raise ModelError(f"the proposition {ENDED!r} marks the end of an episode; machines cannot read it")
        if not self.states:
            raise ModelError("a machine without states; give at least one")
        if self.initial not in self.states:
            raise unknown_name("machine state", self.initial, self.states)
        for rule in self.rules:
            self._validate_rule(rule)
        for state in () if first_match else self.states:
            self._validate_exclusive(state)

    def _validate_names(self, kind: str, names: tuple[str, ...]) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise ModelError(f"{kind} {name!r} is listed twice")
            seen.add(name)

    def _validate_rule(self, rule: Rule) -> None:
        for state in (rule.source, *(outcome.target for outcome in rule.outcomes)):
            if state not in self.index:
                raise ModelError(f"{rule.where}: unknown state {state!r}{did_you_mean(state, self.states)}")
        for name in sorted(rule.guard.propositions().difference(self.propositions)):
            raise ModelError(f"{rule.where}: unknown proposition {name!r}{did_you_mean(name, self.propositions)}")

    def _validate_exclusive(self, state: str) -> None:
        rules = [rule for rule in self.rules_from(state) if not isinstance(rule.guard, Else)]
        for first, second in combinations(rules, 2):
            label = overlap(first.guard, second.guard)
            if label is not None:
                raise ModelError(
                    f"state {state!r}: rules {str(first.guard)!r} and {str(second.guard)!r} both match the label "
                    f"{format_label(label)}; make their guards exclude each other, "
                    "or take the first that holds (first_match: true)"
                )

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each state, by its name."""
        return {state: number for number, state in enumerate(self.states)}

    @cached_property
    def _rules_by_state(self) -> dict[str, tuple[Rule, ...]]:
        grouped: dict[str, list[Rule]] = {state: [] for state in self.states}
        for rule in self.rules:
            grouped[rule.source].append(rule)
        return {state: tuple(rules) for state, rules in grouped.items()}

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def written_rules(self) -> tuple[Rule, ...]:
        """The rules that somebody wrote: all of them, but none in a machine that was made from a formula."""
        return self.rules

    @property
    def source(self) -> Mapping[str, Any] | None:
        """The keys of a file that say the same in short, such as ``ltlf`` and ``pay``; None where there are none."""
        return None

    @property
    def sizes(self) -> dict[str, int]:
        """How large the machine is, by what is counted."""
        return {"machine states": self.num_states, "rules": len(self.rules), "propositions": len(self.propositions)}

    @cached_property
    def meanings(self) -> Mapping[str, str]:
        """What each state stands for; its name, where nothing more is known."""
        return {state: state for state in self.states}

    @property
    def is_deterministic(self) -> bool:
        return all(len(rule.outcomes) == 1 for rule in self.rules)

    def rules_from(self, state: str) -> tuple[Rule, ...]:
        """Return the rules of a state, in the order in which they were given."""
        return self._rules_by_state[state]

    @cached_property
    def mean_rewards(self) -> tuple[float, ...]:
        """The mean rewards that a step can have, increasing; that of a step on which nothing happens is among them."""
        return tuple(sorted({self.idle_reward.mean, *(reward.mean for reward in self._rewards)}))

    @property
    def _rewards(self) -> list[Reward]:
        return [outcome.reward for rule in self.rules for outcome in rule.outcomes]

    @cached_property
    def reward_range(self) -> RewardRange:
        """The range of its rewards, 0 and 1 included."""
        return RewardRange.of([self.idle_reward, *self._rewards])

    @cached_property
    def in_unit_range(self) -> RewardMachine:
        """The same machine with its rewards mapped into [0, 1]; itself, if they lie there."""
        known = self.reward_range
        if known.is_unit:
            return self
        rules = tuple(
            replace(rule, outcomes=tuple(replace(out, reward=known.to_unit(out.reward)) for out in rule.outcomes))
            for rule in self.rules
        )
        return replace(self, rules=rules, idle_reward=known.to_unit(self.idle_reward))

    def outcomes(self, state: str, label: Set[str]) -> tuple[Outcome, ...]:
        """Return where the machine may go from a state on a label; itself, paying 0, where no rule holds."""
        for rule in () if ENDED in label else self.rules_from(state):
            if rule.guard.holds(label):
                return rule.outcomes
        return (Outcome(state, reward=self.idle_reward),)

    @cached_property
    def _as_diagrams(self) -> SymbolicMachine:
        from praemia.machines.symbolic import symbolic

        return symbolic(self)

    def possible_outcomes(self, state: str) -> list[tuple[Outcome, ...]]:
        """Return all that ``outcomes`` can be in a state, whatever the label."""
        return self._as_diagrams.possible_outcomes(state)

    def highest(self, worth: Callable[[tuple[Outcome, ...]], float]) -> list[float]:
        """Return for each state the highest worth of what a label can bring about there."""
        return self._as_diagrams.highest(worth)

    def reachable_states(self) -> set[str]:
        """Return the states that some sequence of labels can lead to."""
        return self._as_diagrams.reachable_states()

    def exhaustive_labels(self) -> list[Label]:
        """Return labels on which every state does all that it can do on any label."""
        found: list[Label] = []
        for state in self.states:
            guards = [rule.guard for rule in self.rules_from(state)]
            rest: Guard = Constant(True)
            for guard in guards:
                rest = rest & ~guard
            found += [label for guard in (*guards, rest) if (label := overlap(guard, guard)) is not None]
        return list(dict.fromkeys(found))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The propositions that some rule reads."""
        return frozenset().union(*(rule.guard.propositions() for rule in self.rules))

    def over(self, propositions: Iterable[str]) -> RewardMachine:
        """Return the same machine over a larger set of propositions, which its rules do not read."""
        union = dict.fromkeys((*self.propositions, *propositions))
        return replace(self, propositions=tuple(union))

    def __add__(self, other: RewardMachine) -> SymbolicMachine:
        """Return the machine that pays what both pay; they move independently, given the label."""
        from praemia.machines.algebra import add

        return add(self, other) if isinstance(other, RewardMachine) else NotImplemented

    def __radd__(self, other: int) -> RewardMachine:
        """Let ``sum(machines)`` begin with its 0."""
        return self if other == 0 else NotImplemented

    def with_chance(self, chances: Mapping[str, float]) -> SymbolicMachine:
        """Return the machine that notices each of some events only with a probability, at each step independently.

        >>> RewardMachine.from_ltlf("F item").with_chance({"item": 0.8}).expected_rewards([{"item"}, {"item"}])
        array([0.8 , 0.16])
        """
        from praemia.machines.algebra import with_chance

        return with_chance(self, chances)

    def expected_rewards(self, word: Iterable[Iterable[str]]) -> NDArray[np.float64]:
        """Return the mean reward of each step of a word, a sequence of labels: float64[n], exact.

        Messages count steps from 1.
        """
        chances = {self.initial: 1.0}
        means = []
        for number, propositions in enumerate(word, start=1):
            label = as_label(propositions, f"step {number}", self.propositions)
            after: dict[str, float] = {}
            mean = []
            for state, chance in chances.items():
                for out in self.outcomes(state, label):
                    after[out.target] = after.get(out.target, 0.0) + chance * out.probability
                    mean.append(chance * out.probability * out.reward.mean)
            means.append(fsum(mean))
            chances = after
        return np.array(means, dtype=np.float64)


def format_label(label: Set[str]) -> str:
    """Write a label as ``{a, b}``."""
    if ENDED in label:
        return "(after the end)"
    return "{" + ", ".join(sorted(label)) + "}"


class MachineBuilder:
    """Write a machine down edge by edge, as it stands in a drawing.

    Edges with the same source and the same guard are the outcomes of one rule. States are numbered in the order
    in which they are first named; propositions are those that the guards read, unless they are given. The guard
    ``else`` takes what the state's other edges leave; with ``first_match`` the rules of a state are tried in order.

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
        self._propositions = None if propositions is None else tuple(propositions)
        self._states = {initial: None}
        self._rules: dict[tuple[str, Guard], list[Outcome]] = {}

    def edge(
        self,
        source: str,
        when: str | Guard,
        target: str,
        *,
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
        rules = tuple(Rule(source, guard, tuple(outs)) for (source, guard), outs in self._rules.items())
        read = dict.fromkeys(name for rule in rules for name in sorted(rule.guard.propositions()))
        propositions = tuple(read) if self._propositions is None else self._propositions
        return RewardMachine(tuple(self._states), self._initial, propositions, rules, first_match=self._first_match)
