"""LTL on finite traces by its definition, random formulas, and automata minimised the plain way: slow and simple.

A formula is a name, a constant or a tuple (operator, part, …). It knows nothing of the package's formulas.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from itertools import product
from typing import Any

LABELS = [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]
CONSTANTS = ("true", "false", "last")


def words(longest: int) -> list[tuple[frozenset[str], ...]]:
    """Return all words over two propositions of one length; their beginnings are all the shorter ones."""
    return list(product(LABELS, repeat=longest))


def random_word(rng: random.Random, names: str, length: int) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(name for name in names if rng.random() < 0.4) for _ in range(length))


def random_formula(rng: random.Random, size: int, names: str, past: bool = False) -> Any:
    """Draw a formula of a size, the number of its operators, names and constants."""
    if size == 1:
        return rng.choice([*names] * 4 + ["true", "false"] + ([] if past else ["last"]))
    if size == 2 or rng.random() < 0.45:
        return (
            rng.choice(("!", "Y", "O", "H") if past else ("!", "X", "WX", "F", "G")),
            random_formula(rng, size - 1, names, past),
        )
    left = rng.randint(1, size - 2)
    operator = rng.choice(("&", "|", "->", "<->", "S", "S") if past else ("&", "|", "->", "<->", "U", "R", "W"))
    return (operator, random_formula(rng, left, names, past), random_formula(rng, size - 1 - left, names, past))


def write(formula: Any) -> str:
    """Write a formula with all its brackets."""
    if isinstance(formula, str):
        return formula
    operator, *parts = formula
    written = [f"({write(part)})" for part in parts]
    return operator + written[0] if len(parts) == 1 else f" {operator} ".join(written)


def is_past(formula: Any) -> bool:
    return not isinstance(formula, str) and (formula[0] in "YOHS" or any(map(is_past, formula[1:])))


def holds(formula: Any, word: Sequence[frozenset[str]], at: int, known: Any = None) -> bool:
    """Tell whether a formula holds at a step of a word; what is ``known`` already is not asked again."""
    known = {} if known is None else known
    if (formula, at) not in known:
        known[formula, at] = _holds(formula, word, at, known)
    return known[formula, at]


def _holds(formula: Any, word: Sequence[frozenset[str]], at: int, known: Any) -> bool:
    end = len(word)
    if isinstance(formula, str):
        return {"true": True, "false": False, "last": at == end - 1}.get(formula, formula in word[at])
    operator, *parts = formula

    def first(step: int) -> bool:
        return holds(parts[0], word, step, known)

    def second(step: int) -> bool:
        return holds(parts[1], word, step, known)

    match operator:
        case "!":
            return not first(at)
        case "&":
            return first(at) and second(at)
        case "|":
            return first(at) or second(at)
        case "->":
            return second(at) or not first(at)
        case "<->":
            return first(at) == second(at)
        case "X":
            return at + 1 < end and first(at + 1)
        case "WX":
            return at + 1 == end or first(at + 1)
        case "F":
            return any(first(i) for i in range(at, end))
        case "G":
            return all(first(i) for i in range(at, end))
        case "U":
            return any(second(i) and all(first(j) for j in range(at, i)) for i in range(at, end))
        case "W":
            return holds(("|", ("U", *parts), ("G", parts[0])), word, at, known)
        case "R":
            return all(second(i) or any(first(j) for j in range(at, i)) for i in range(at, end))
        case "Y":
            return at > 0 and first(at - 1)
        case "O":
            return any(first(i) for i in range(at + 1))
        case "H":
            return all(first(i) for i in range(at + 1))
        case "S":
            return any(second(i) and all(first(j) for j in range(i + 1, at + 1)) for i in range(at + 1))
    raise AssertionError(operator)


def satisfaction(formula: Any, word: Sequence[frozenset[str]]) -> list[bool]:
    """Tell for every beginning of a word but the empty one whether it satisfies a formula."""
    past = is_past(formula)
    return [holds(formula, word[:end], end - 1 if past else 0) for end in range(1, len(word) + 1)]


def payments(satisfied: Sequence[bool], pay: str) -> list[int]:
    """Return what is paid at each step, from what each beginning satisfies."""
    if pay == "each":
        return [int(now) for now in satisfied]
    if pay == "first":
        return [int(now and not any(satisfied[:i])) for i, now in enumerate(satisfied)]
    return [int(now) - int(i > 0 and satisfied[i - 1]) for i, now in enumerate(satisfied)]


def num_distinguishable(
    start: Hashable, step: Callable[[Any, frozenset[str]], tuple[Hashable, Any]], labels: Sequence[frozenset[str]]
) -> int:
    """Count the reachable states of a machine that differ in what they pay: Moore's refinement over all labels."""
    states = {start: None}
    for state in states_of(start, step, labels):
        states[state] = None
    classes = dict.fromkeys(states, 0)
    while True:
        looks = {s: (classes[s], *((classes[t], r) for t, r in (step(s, label) for label in labels))) for s in states}
        numbers = {look: number for number, look in enumerate(dict.fromkeys(looks.values()))}
        if len(numbers) == len(set(classes.values())):
            return len(numbers)
        classes = {state: numbers[look] for state, look in looks.items()}


def states_of(start: Any, step: Callable[[Any, frozenset[str]], tuple[Hashable, Any]], labels: Any) -> list[Any]:
    """Return the states that can be reached."""
    found = [start]
    for state in found:
        found += dict.fromkeys(t for t, _ in (step(state, label) for label in labels) if t not in found)
    return found


def paid_by(automaton, word):
    """Return what an automaton puts out at each step of a word."""
    state, paid = 0, []
    for label in word:
        state, payment = automaton.diagrams.at(state, label)
        paid.append(payment)
    return paid
