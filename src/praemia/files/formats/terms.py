"""Guards as sums of products, for formats that know no brackets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, product
from typing import TypeAlias

from praemia.errors import ModelError
from praemia.models.guards import Constant, Else, Guard, Junction, Negation, Proposition

MAX_TERMS = 10_000

Term: TypeAlias = frozenset[tuple[str, bool]]


def terms(guard: Guard) -> list[Term]:
    """Return products of literals (proposition, true or false) whose union is the guard; none if it never holds."""
    return sorted(_terms(guard, True), key=lambda term: (len(term), sorted(term)))


def _terms(guard: Guard, wanted: bool) -> list[Term]:
    match guard:
        case Constant(value):
            return [frozenset()] if value == wanted else []
        case Proposition(name):
            return [frozenset({(name, wanted)})]
        case Negation(part):
            return _terms(part, not wanted)
        case Else(rest):
            return _terms(rest, wanted)
        case Junction(operator, parts):
            inner = [_terms(part, wanted) for part in parts]
            return _products(inner) if (operator == "&") == wanted else _shortest(list(chain.from_iterable(inner)))
        case _:
            raise ModelError(f"guard {str(guard)!r} cannot be written as a sum of products")


def _products(factors: Iterable[list[Term]]) -> list[Term]:
    found: list[Term] = [frozenset()]
    for factor in factors:
        if len(found) * len(factor) > MAX_TERMS:
            raise ModelError(f"a guard of more than {MAX_TERMS:,} products; it is too long for this format")
        pairs = (first | second for first, second in product(found, factor))
        found = _shortest([term for term in pairs if not _contradicts_itself(term)])
    return found


def _contradicts_itself(term: Term) -> bool:
    return len({name for name, _ in term}) < len(term)


def _shortest(found: list[Term]) -> list[Term]:
    """Drop the products that another one contains."""
    kept: list[Term] = []
    for term in sorted(set(found), key=len):
        if not any(shorter <= term for shorter in kept):
            kept.append(term)
    return kept
