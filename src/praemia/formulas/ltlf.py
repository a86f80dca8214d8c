"""From the text of a formula to the smallest automaton that accepts what satisfies it."""

from __future__ import annotations

from praemia.errors import ModelError, SizeError
from praemia.formulas.automaton import Automaton
from praemia.formulas.formula import FUTURE, PAST
from praemia.formulas.growth import Growth
from praemia.formulas.parsing import parse_formula
from praemia.formulas.past import remember
from praemia.formulas.paying import smallest_accepting
from praemia.formulas.progression import progress


def accept_formula(text: str, growth: Growth) -> Automaton:
    """Return the smallest automaton that pays 1 at every step at which what was seen so far satisfies a formula.

    A formula without past operators is judged at the first step of the trace so far, one with past operators alone at
    its last step. An empty trace satisfies nothing.
    """
    formula, used = parse_formula(text)
    if used & FUTURE and used & PAST:
        raise ModelError(
            f"the formula {text!r} mixes operators about the future ({', '.join(sorted(used & FUTURE))}) and about the "
            f"past ({', '.join(sorted(used & PAST))}); write it with one kind"
        )
    try:
        return smallest_accepting((remember if used & PAST else progress)(formula, growth))
    except RecursionError:
        raise SizeError(f"the formula {text[:40]!r}… is too deeply nested, or reads too many propositions") from None
