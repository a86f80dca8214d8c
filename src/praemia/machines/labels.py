"""Labelling functions: which propositions a transition (o, a, o') makes true.

The label of a transition is the union over all rules that match it. Only labels that occur are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, ParameterError, did_you_mean, require_distinct

Label: TypeAlias = frozenset[str]
Indices: TypeAlias = NDArray[np.int64]
LabelFunction: TypeAlias = Callable[[int, int, int], Iterable[str]]

MAX_TABULATED = 200_000  # the most (o, a, o') whose labels are computed one by one


@dataclass(frozen=True, init=False)
class LabelRule:
    """Add propositions to the transitions that match.

    Parameters
    ----------
    propositions : one name, or several.
    source : the observation before the step; None matches any, here and below.
    action : the action.
    target : the observation after the step.

    Examples
    --------
    >>> import praemia
    >>> rule = praemia.LabelRule("goal", target=3)  # arriving in observation 3 makes goal true
    >>> sorted(rule.propositions)
    ['goal']
    """

    propositions: Label
    source: int | None
    action: int | None
    target: int | None

    def __init__(
        self,
        propositions: str | Iterable[str],
        source: int | None = None,
        action: int | None = None,
        target: int | None = None,
    ) -> None:
        object.__setattr__(self, "propositions", as_label(propositions, "the label that a label rule adds"))
        for place, number in (("source", source), ("action", action), ("target", target)):
            if number is not None and not isinstance(number, Integral):
                raise ModelError(f"the {place} of a label rule is {number!r}; expected an integer, or None for any")
            object.__setattr__(self, place, None if number is None else int(number))

    def as_list(self) -> list[list[str] | int | None]:
        """Return the rule as plain data: the propositions in order, then source, action and target."""
        return [sorted(self.propositions), self.source, self.action, self.target]


@dataclass(frozen=True)
class Labelling:
    """The label of every transition (o, a, o'), whether or not it can happen: by rules, or by a function of the user's.

    Rules are decided for whole arrays at once; a function is called once for each transition that is requested.
    """

    rules: tuple[LabelRule, ...] = ()
    function: LabelFunction | None = None

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        """Return the index of each transition's label, and the labels by index."""
        if self.function is not None:
            return _call(self.function, sources, actions, targets)
        labels: list[Label] = [frozenset()]
        numbers = np.zeros(len(sources), dtype=np.int64)
        for pattern in sorted({_pattern(rule) for rule in self.rules}):
            columns = [col for col, used in zip((sources, actions, targets), pattern, strict=True) if used]
            part, part_labels = _match([rule for rule in self.rules if _pattern(rule) == pattern], columns)
            numbers, labels = _unite(numbers, labels, part, part_labels)
        return numbers.astype(np.int32), labels

    @property
    def by_rules(self) -> bool:
        """Whether the rules say all."""
        return self.function is None

    def tabulated(self, num_observations: int, num_actions: int) -> Labelling | None:
        """Return the labels of all transitions as rules; None where there are too many to call a function for each."""
        shape = (num_observations, num_actions, num_observations)
        if self.by_rules:
            return self
        if shape[0] * shape[1] * shape[2] > MAX_TABULATED:
            return None
        places = np.indices(shape).reshape(3, -1)
        numbers, sets = self.of(*places)
        rows = zip(*places.tolist(), numbers.tolist(), strict=True)
        return Labelling(tuple(LabelRule(sets[number], *place) for *place, number in rows if sets[number]))

    def propositions(self) -> Label:
        """Return the propositions of the rules; those of a function cannot be known beforehand."""
        return frozenset().union(*(rule.propositions for rule in self.rules))


StepFunction: TypeAlias = Callable[..., Any]
Labels: TypeAlias = (
    Labelling | Iterable[LabelRule] | LabelFunction | Mapping[int, str | Iterable[str]] | Mapping[str, StepFunction]
)


def read_labels(
    labels: object, takes_info: Callable[[StepFunction], StepFunction] = lambda own: own
) -> tuple[StepFunction | Mapping[Any, Label], Label | None]:
    """Return labels of steps (o, a, o', info) as a function, or as a table by next observation.

    The other part are the propositions that labels can have; None where that is not known beforehand. ``takes_info``
    changes each function of the user's.
    """
    if isinstance(labels, str):
        return partial(_from_info, labels), None
    if callable(labels):
        return takes_info(labels), None
    if not isinstance(labels, Mapping):
        raise ModelError(
            f"labels={labels!r}; expected a function (o, a, o', info) -> propositions, a dictionary from next "
            "observations to propositions or from propositions to functions, praemia.labels.predicates, or the key of "
            "info that holds them"
        )
    kinds = {callable(value): key for key, value in labels.items()}
    if True not in kinds:
        table = {o: as_label(names, "a label") for o, names in labels.items()}
        return table, frozenset().union(*table.values())
    if False in kinds:
        raise ModelError(
            f"labels: {kinds[True]!r} has a function and {kinds[False]!r} has none; expected functions by proposition, "
            "or propositions by next observation"
        )
    for name in labels:
        if not isinstance(name, str):
            raise ModelError(f"labels: {name!r} has a function; expected a proposition, a text, before a function")
    functions = [(name, takes_info(function)) for name, function in labels.items()]
    return lambda *step: frozenset([name for name, holds in functions if holds(*step)]), frozenset(labels)


def _from_info(key: str, o: Any, a: Any, o_next: Any, info: Mapping[str, Any]) -> Any:
    if key not in info:
        raise ModelError(f"labels={key!r}, and the info of a step has no such entry{did_you_mean(key, info)}")
    return info[key]


def as_labelling(labels: Labels) -> Labelling:
    """Turn rules, a function, propositions by next observation or functions by proposition into a labelling.

    Functions are called with (o, a, o'); one that needs a fourth argument, ``info``, gets an empty one.
    """
    if isinstance(labels, Labelling):
        return labels
    if isinstance(labels, str):
        raise ModelError(
            f"labels={labels!r} would be an entry of info, which a table of transitions does not have; give label "
            "rules, a function (o, a, o') -> propositions, or a dictionary"
        )
    if isinstance(labels, Mapping) or callable(labels):
        given, _ = read_labels(labels, _with_or_without_info)
        if isinstance(given, Mapping):
            return Labelling(tuple(LabelRule(names, target=o) for o, names in given.items()))
        return Labelling(function=lambda o, a, z: given(o, a, z, {}))
    rules = tuple(labels) if isinstance(labels, Iterable) else (labels,)
    for rule in rules:
        if not isinstance(rule, LabelRule):
            raise ModelError(
                f"labels have {rule!r}; expected LabelRules, a function (o, a, o') -> propositions, or a dictionary "
                "from next observations to propositions"
            )
    return Labelling(rules)


def _with_or_without_info(function: StepFunction) -> StepFunction:
    """Return a function of (o, a, o', info), from one that may take three arguments only."""
    try:
        signature(function).bind(None, None, None)
    except TypeError:
        return function
    except ValueError:  # a built-in function does not say what it takes
        pass
    return lambda o, a, z, info: function(o, a, z)


def several(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; refuse one bare name, which would be split into letters."""
    if isinstance(names, str):
        raise ParameterError(f"{what}={names!r}; expected several names, such as [{names!r}]")
    return tuple(names)


def distinct_names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of states or propositions; refuse a bare name, one that is listed twice, and numbers."""
    listed = several(f"{kind}s", names)
    for name in listed:
        if not isinstance(name, str):
            raise ModelError(f"the {kind} {name!r} is not text; write {str(name)!r}")
    require_distinct(kind, listed)
    return listed


def as_label(propositions: object, what: str, allowed: Collection[str] | None = None) -> Label:
    """Check a label: one name or several, all of them among those that a machine knows, if given."""
    names = [propositions] if isinstance(propositions, str) else None
    if isinstance(propositions, Iterable) and not isinstance(propositions, str | bytes | Mapping):
        names = list(propositions)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ModelError(
            f"{what} is {propositions!r}; expected a set of proposition names, such as {{'goal'}} or set()"
        )
    for name in sorted(set(names).difference(names if allowed is None else allowed)):
        raise ModelError(
            f"{what} has the proposition {name!r}, which is not one of the machine's"
            f"{did_you_mean(name, allowed or ())}; use machine.over([{name!r}]) to allow it"
        )
    return frozenset(names)


def format_label(label: Set[str]) -> str:
    """Write a label as ``{a, b}``."""
    return "{" + ", ".join(sorted(label)) + "}"


def _call(
    function: LabelFunction, sources: Indices, actions: Indices, targets: Indices
) -> tuple[NDArray[np.int32], list[Label]]:
    """Call a label function for each transition."""
    number_of: dict[Label, int] = {frozenset(): 0}
    places = zip(sources.tolist(), actions.tolist(), targets.tolist(), strict=True)
    found = (as_label(function(o, a, z), f"the label of ({o}, {a}, {z})") for o, a, z in places)
    numbers = [number_of.setdefault(label, len(number_of)) for label in found]
    return np.array(numbers, dtype=np.int32), list(number_of)


def _pattern(rule: LabelRule) -> tuple[bool, bool, bool]:
    return (rule.source is not None, rule.action is not None, rule.target is not None)


def _match(rules: Sequence[LabelRule], columns: Sequence[Indices]) -> tuple[Indices, list[Label]]:
    """Number the labels that rules of one pattern give; the pattern's columns are packed into one key."""
    if not columns:
        return np.zeros(1, dtype=np.int64), [frozenset().union(*(rule.propositions for rule in rules))]
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    by_key: dict[tuple[int, ...], Label] = {}
    for rule in rules:
        key = tuple(part for part in (rule.source, rule.action, rule.target) if part is not None)
        if all(0 <= part < width for part, width in zip(key, widths, strict=True)):
            by_key[key] = by_key.get(key, frozenset()) | rule.propositions
    if not by_key:
        return np.zeros(1, dtype=np.int64), [frozenset()]
    keys = np.ravel_multi_index(tuple(np.array(list(by_key), dtype=np.int64).T), widths)
    order = np.argsort(keys, kind="stable")
    packed = np.ravel_multi_index(tuple(columns), widths)
    place = np.minimum(np.searchsorted(keys[order], packed), len(keys) - 1)
    numbers = np.where(keys[order][place] == packed, order[place] + 1, 0)
    return numbers.astype(np.int64), [frozenset(), *by_key.values()]


def _unite(
    first: Indices, first_labels: list[Label], second: Indices, second_labels: list[Label]
) -> tuple[Indices, list[Label]]:
    """Number the unions of two labels per transition, keeping only those that occur; 0 is the empty label."""
    pairs, numbers = np.unique(first * len(second_labels) + second, return_inverse=True)
    number_of: dict[Label, int] = {frozenset(): 0}
    unions = [first_labels[i] | second_labels[j] for i, j in zip(*divmod(pairs, len(second_labels)), strict=True)]
    united = [number_of.setdefault(union, len(number_of)) for union in unions]
    return np.array(united, dtype=np.int64)[numbers.reshape(first.shape)], list(number_of)
