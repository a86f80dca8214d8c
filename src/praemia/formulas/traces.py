"""Traces as text, and what an automaton says of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import NamedTuple

from praemia.formulas.automaton import Automaton
from praemia.formulas.parsing import mistake, read_name

_TOKEN = re.compile(r'\s*(?:(?P<end>;)|,|(?P<name>[^\s,;"]+|"(?:[^"\\]|\\.)+"))')


class Verdict(NamedTuple):
    """Whether a trace satisfies, step by step, and from which step on that cannot change any more (0: never could)."""

    satisfied: list[bool]
    decided_at: int | None


def parse_trace(text: str) -> list[frozenset[str]]:
    """Read a trace such as ``item; ; delivery, home``: steps are separated by ``;``, names by ``,`` or blanks."""
    labels: list[set[str]] = [set()]
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            raise mistake("trace", text, start, "expected names, with ';' between steps; are all quotes closed?")
        if found["end"]:
            labels.append(set())
        elif found["name"]:
            labels[-1].add(read_name(found["name"]))
        place = found.end()
    return [frozenset(label) for label in labels]


def judge(automaton: Automaton, word: Iterable[Set[str]]) -> Verdict:
    """Return what an automaton that accepts, and is minimal, says of a word."""
    state, satisfied = 0, []
    decided = 0 if automaton.constant_payment(0) is not None else None
    for number, label in enumerate(word, start=1):
        state, payment = automaton.step(state, label)
        satisfied.append(payment > 0)
        if decided is None and automaton.constant_payment(state) == payment:
            decided = number
    return Verdict(satisfied, decided)
