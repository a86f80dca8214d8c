"""Which formulas imply X h or g U h, by their syntax: sound on every non-empty trace, but not complete.

Residuals that differ only by something implied are one state, so fewer states are built before minimising.
"""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from praemia.machines.formula import FALSE, TRUE, Formula, fold

Pair: TypeAlias = tuple[Formula, Formula]  # the first is to imply the second
Answers: TypeAlias = dict[Pair, bool]


def entails(f: Formula, g: Formula, memo: Answers) -> bool:
    """Return whether f is found to imply g; both have ``!`` before names only. ``memo`` keeps the answers."""
    return fold((f, g), _is_found, memo, lambda pair: list(chain.from_iterable(_ways(*pair))))


def _is_found(pair: Pair, answers: list[bool]) -> bool:
    found = iter(answers)
    return True in {False not in [next(found) for _ in way] for way in _ways(*pair)}


def _ways(f: Formula, g: Formula) -> list[list[Pair]]:
    """Return ways to show that f implies g: for each, the implications that suffice."""
    if f in (g, FALSE) or g is TRUE:
        return [[]]
    if f.operator == "|" or g.operator == "&":
        return [[(part, g) for part in f.parts] if f.operator == "|" else [(f, part) for part in g.parts]]
    ways = [[(part, g)] for part in f.parts] if f.operator == "&" else []
    match g.operator, f.operator:
        case "|", _:
            ways += [[(f, part)] for part in g.parts]
        case "U", "U":
            ways += [[(f, g.parts[1])], [(f.parts[0], g.parts[0]), (f.parts[1], g)]]
        case "U", "X":
            ways += [[(f, g.parts[1])], [(f, g.parts[0]), (f.parts[0], g)]]
        case "U", _:
            ways += [[(f, g.parts[1])]]
        case "X", "X":
            ways += [[(f.parts[0], g.parts[0])]]
    return ways
