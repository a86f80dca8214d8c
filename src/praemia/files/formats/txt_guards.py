"""Guards of the .txt format: sums of products of letters, such as ``a&!b|c``; blanks mean nothing.

There a proposition is tested by "letter in string", and the label is a string of letters. So propositions are single
characters, and an empty guard, which is in every string, is true.
"""

from __future__ import annotations

from praemia.errors import FileError, ModelError
from praemia.files.formats.terms import Term, terms
from praemia.models.guards import Constant, Guard, Proposition

OPERATORS = frozenset("&|!()'\"#\\")


def parse_dnf(text: str) -> Guard:
    """Read a guard."""
    guard: Guard = Constant(False)
    for summand in text.split("|"):
        product: Guard = Constant(True)
        for factor in summand.split("&"):
            product = product & _literal(factor.strip(), text)
        guard = guard | product
    return guard


def _literal(factor: str, text: str) -> Guard:
    name = factor.lstrip("! \t")
    literal = _atom(name, text)
    return ~literal if factor[: len(factor) - len(name)].count("!") % 2 else literal


def _atom(name: str, text: str) -> Guard:
    if name in ("True", "False", ""):
        return Constant(name != "False")
    if "(" in name or ")" in name:
        raise FileError(f"guard {text!r}: it has brackets; in this format it is a sum of products, such as 'a&!b|c'")
    if len(name) > 1:
        raise FileError(f"guard {text!r}: the proposition {name!r}; in this format it is a single letter")
    return Proposition(name)


def write_dnf(guard: Guard) -> str:
    """Write a guard, or raise a ModelError that says why it cannot be."""
    for name in sorted(guard.propositions()):
        if len(name) != 1 or name in OPERATORS or name.isspace():
            raise ModelError(f"the proposition {name!r}; in this format it is a single letter")
    return "|".join(map(_product, terms(guard))) or "False"


def _product(term: Term) -> str:
    return "&".join(("" if wanted else "!") + name for name, wanted in sorted(term)) or "True"
