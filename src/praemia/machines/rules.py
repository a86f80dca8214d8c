"""Rules: what a machine does in a state when a guard holds; and the decision diagrams that are built from rules.

The guards of a state exclude each other or, with ``first_match``, the first rule whose guard holds is taken; ``else``
takes what the others leave.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Real
from typing import Any, TypeAlias

from praemia.errors import ModelError, RuleError, SizeError, did_you_mean, require_distribution
from praemia.machines.diagrams import Diagrams, Growth
from praemia.machines.formula import Formula, disjunction
from praemia.machines.guards import MAX_GUARD_NODES, Booleans
from praemia.machines.labels import format_label
from praemia.machines.rewards import TOLERANCE, Reward
from praemia.machines.state_diagrams import StateDiagrams
from praemia.machines.syntax import parse_guard

ZERO = Reward((0.0,))
MAX_RULES = 1_000_000
MAX_PRODUCTS = 1_000  # of a guard that is made exclusive
MAX_DERIVED_PRODUCTS = 100_000  # of a guard that is derived; this takes seconds


@dataclass(frozen=True)
class Outcome:
    """An outcome of a rule.

    Attributes
    ----------
    target : the next machine state.
    probability : its probability.
    reward : the distribution of the reward.

    Examples
    --------
    >>> import praemia
    >>> praemia.Outcome("done", 0.9, praemia.Reward.of(1)).reward.mean
    1.0
    """

    target: str
    probability: float = 1.0
    reward: Reward = ZERO

    @classmethod
    def of(cls, target: str, value: Any, reward: Any) -> Outcome:
        """Read an outcome as files have it: a probability, or a mapping with ``probability`` and ``reward``."""
        own = value if isinstance(value, Mapping) else {"probability": value}
        if not own.keys() <= {"probability", "reward"} or not isinstance(own.get("probability", 1.0), Real):
            raise ModelError(f"the outcome {target!r} is {value!r}; expected a probability, or probability and reward")
        return cls(target, float(own.get("probability", 1.0)), Reward.from_data(own.get("reward", reward)))


Outcomes: TypeAlias = tuple[Outcome, ...]


@dataclass(frozen=True)
class Rule:
    """The outcomes in a machine state when a guard holds.

    Attributes
    ----------
    source : the machine state.
    guard : the guard.
    outcomes : the possible outcomes; those with the same target are merged.

    Examples
    --------
    >>> import praemia
    >>> rule = praemia.Rule.of({"from": "q", "when": "a", "to": {"back": {"probability": 0.8, "reward": 1}, "q": 0.2}})
    >>> [(outcome.target, outcome.probability, outcome.reward.mean) for outcome in rule.outcomes]
    [('back', 0.8, 1.0), ('q', 0.2, 0.0)]
    """

    source: str
    guard: Formula
    outcomes: Outcomes

    @classmethod
    def of(cls, rule: Rule | Mapping[str, Any]) -> Rule:
        """Read a rule as files have it: ``to`` is a state, or maps states to probabilities or to outcomes."""
        if isinstance(rule, Rule):
            return rule
        keys = {"from", "when", "to"}
        if not isinstance(rule, Mapping) or not keys <= rule.keys() <= keys | {"reward"}:
            raise ModelError(f"a rule is {rule!r}; expected a Rule, or a mapping with from, when, to and reward")
        targets = {rule["to"]: 1.0} if isinstance(rule["to"], str) else rule["to"]
        outcomes = (Outcome.of(target, value, rule.get("reward", 0.0)) for target, value in targets.items())
        return cls(rule["from"], parse_guard(rule["when"]), tuple(outcomes))

    def __post_init__(self) -> None:
        if not self.outcomes:
            raise ModelError(f"{self.where}: it leads nowhere; give at least one outcome")
        try:
            require_distribution("", [outcome.probability for outcome in self.outcomes], TOLERANCE)
        except ModelError as error:  # only now, since writing out a guard takes longer than the check
            raise ModelError(f"{self.where}: {error}") from None
        object.__setattr__(self, "outcomes", merge_outcomes(self.outcomes))

    @property
    def where(self) -> str:
        """Return the rule as text, for messages."""
        return f"state {self.source!r} on {str(self.guard)!r}"

    @property
    def is_else(self) -> bool:
        return self.guard.operator == "else"


def merge_outcomes(outcomes: Iterable[Outcome]) -> Outcomes:
    """Mix the outcomes that share a target, at the place of the first; the joint distribution of (q', reward) stays."""
    by_target: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.probability > 0.0:
            by_target.setdefault(outcome.target, []).append(outcome)
    return tuple(
        group[0]
        if len(group) == 1
        else Outcome(
            target,
            math.fsum(outcome.probability for outcome in group),
            Reward.mixture((outcome.probability, outcome.reward) for outcome in group),
        )
        for target, group in by_target.items()
    )


def validate_rules(rules: Iterable[Rule], states: Collection[str], propositions: Collection[str]) -> None:
    """Refuse rules that name an unknown state or proposition."""
    valid: set[Formula] = set()
    for rule in rules:
        for state in (rule.source, *(outcome.target for outcome in rule.outcomes)):
            if state not in states:
                raise RuleError(f"{rule.where}: unknown state {state!r}{did_you_mean(state, states)}", rule)
        if rule.guard in valid:
            continue
        valid.add(rule.guard)
        for name in sorted(set(rule.guard.propositions()).difference(propositions)):
            raise RuleError(f"{rule.where}: unknown proposition {name!r}{did_you_mean(name, propositions)}", rule)


def paying_states(following: Mapping[str, Iterable[Outcomes]], nothing: Reward = ZERO) -> set[str]:
    """Return the states from which a reward other than ``nothing`` is possible, given the outcomes of each state."""
    sources: dict[str, set[str]] = {state: set() for state in following}
    paying: set[str] = set()
    for state, outcomes in following.items():
        for outcome in chain.from_iterable(outcomes):
            sources[outcome.target].add(state)
            if not outcome.reward.lowest == outcome.reward.highest == nothing.lowest:
                paying.add(state)
    return closure(paying, sources)


def closure(start: Iterable[str], following: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the states that can be reached from some, themselves included."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        new = set(following[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return reached


def build_diagrams(
    states: Iterable[str], rules: Iterable[Rule], idle_reward: Reward, first_match: bool
) -> StateDiagrams:
    """Return the diagrams of rules; where none holds, a state stays with the idle reward."""
    growth = Growth(max_states=MAX_RULES)
    functions, store = Booleans(growth=growth), Diagrams(growth)
    roots = []
    nothing, by_source = store.leaf(None), {state: list[Rule]() for state in states}
    for rule in rules:
        by_source[rule.source].append(rule)
    for state, own in by_source.items():
        growth.max_nodes = max(len(functions), len(store)) + MAX_GUARD_NODES
        last, guarded = [rule for rule in own if rule.is_else], [rule for rule in own if not rule.is_else]
        if len(last) > 1:
            raise RuleError(f"state {state!r}: a second rule on 'else'; a state has at most one", last[1])
        if not first_match:
            _require_exclusive(state, guarded, functions)
        root = store.leaf(last[0].outcomes if last else (Outcome(state, reward=idle_reward),))
        for rule in reversed(guarded):  # one that is earlier is laid over those that are later
            value = {True: rule.outcomes, False: None}.__getitem__
            where = functions.map(functions.function(rule.guard), value, target=store)
            root = store.combine(where, root, lambda earlier, _: earlier, {}, unit=nothing)
        roots.append(root)
    built = StateDiagrams(functions.names, store, tuple(roots))
    return built.map_values(lambda outcomes: outcomes)  # without the diagrams on the way, and the limits of this store


def _require_exclusive(state: str, rules: Sequence[Rule], functions: Booleans) -> None:
    """Refuse the first rule of a state that holds where an earlier one does."""
    earlier = functions.false
    for rule in rules:
        function = functions.function(rule.guard)
        if functions.both(earlier, function) != functions.false:
            first = next(r for r in rules if functions.both(functions.function(r.guard), function) != functions.false)
            label = functions.example(functions.both(functions.function(first.guard), function))
            raise RuleError(
                f"state {state!r}: rules {str(first.guard)!r} and {str(rule.guard)!r} both match the label "
                f"{format_label(label)}; make the guards mutually exclusive, or set first_match=True",
                rule,
            )
        earlier = functions.either(earlier, function)


def make_exclusive(rules: Sequence[Rule], first_match: bool) -> tuple[Rule, ...]:
    """Return rules with guards that exclude each other; the guard ``else`` gets a part that says where it holds."""
    functions = Booleans(growth=Growth())
    earlier: dict[str, list[Formula]] = {rule.source: [] for rule in rules}
    guards = []
    for rule in rules:
        is_kept = rule.is_else or not first_match
        guards.append(rule.guard if is_kept else _without(rule.guard, disjunction(earlier[rule.source]), functions))
        earlier[rule.source] += [] if rule.is_else else [rule.guard]
    rest = {state: Formula("else", (~disjunction(others),)) for state, others in earlier.items()}
    return tuple(
        replace(rule, guard=rest[rule.source] if rule.is_else else guard)
        for rule, guard in zip(rules, guards, strict=True)
    )


def _without(guard: Formula, others: Formula, functions: Booleans) -> Formula:
    """Return a guard without the labels on which others hold: as few products, if these are not too many."""
    whole = functions.function(guard)
    left = functions.both(whole, functions.negate(functions.function(others)))
    try:
        return guard if left == whole else functions.formula(left, MAX_PRODUCTS)
    except SizeError:
        return guard & ~others


def derive_rules(states: Sequence[str], diagrams: StateDiagrams, idle_reward: Reward) -> tuple[Rule, ...]:
    """Write diagrams out: a rule for everything that can happen in a state, except what happens there without rules."""
    functions = Booleans(diagrams.variables, Growth())
    no = functions.false

    def where_each(variable: int, low: dict[int, int], high: dict[int, int]) -> dict[int, int]:
        """Return for each leaf below a diagram the function that is true where that leaf is met."""
        return {leaf: functions.node(variable, low.get(leaf, no), high.get(leaf, no)) for leaf in low | high}

    conditions = diagrams.fold(lambda leaf: {leaf: functions.true}, where_each)
    index = {state: number for number, state in enumerate(states)}
    rules: list[Rule] = []
    for number, (state, own) in enumerate(zip(states, conditions, strict=True)):
        happens = [(diagrams.store.value(leaf), where) for leaf, where in own.items()]
        cases = [([index[out.target] for out in outcomes], outcomes, where) for outcomes, where in happens]
        for _, outcomes, where in sorted(cases, key=lambda case: (case[0] == [number], case[0])):
            if outcomes != (Outcome(state, reward=idle_reward),):
                rules.append(Rule(state, functions.formula(where, MAX_DERIVED_PRODUCTS), outcomes))
        if len(rules) > MAX_RULES:
            raise SizeError(f"the machine has more than {MAX_RULES:,} rules; they are not written out")
    return tuple(rules)
