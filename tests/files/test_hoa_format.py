"""Automata in the HOA format pay as the words they accept say."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from praemia.errors import ParameterError, PraemiaError
from praemia.files.formats.hoa import read_hoa

HEAD = """\
HOA: v1
tool: "by hand" "1.0"
States: 3
Start: 0
AP: 2 "a" "b"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: trans-labels explicit-labels deterministic
"""

# An even number of steps with a, and never b without a; accepted in state 0.
STATES = (
    HEAD
    + """\
--BODY--
State: 0 "even" {0}
[0] 1
[!0 & !1] 0
State: 1 "odd"
[0] 0 /* back */
[!0&!1] 1
State: 2 "never met" {0}
[t] 2
--END--
"""
)

EDGES = (
    HEAD
    + """\
Alias: @both 0 & 1
--BODY--
State: 0
[@both] 0 {0}
[!@both & !(!0 & !1)] 1
[!0 & !1] 0
State: 1
[t] 0 {0}
State: 2
[f] 2
--END--
"""
)


def even(word: tuple[frozenset[str], ...]) -> bool:
    return sum("a" in label for label in word) % 2 == 0 and not any(label == {"b"} for label in word)


def edges(word: tuple[frozenset[str], ...]) -> bool:
    state, accepted = 0, False
    for label in word:
        accepted = state == 1 or label == {"a", "b"}
        state = 1 if state == 0 and len(label) == 1 else 0
    return accepted


AUTOMATA = {"states": (STATES, even), "edges": (EDGES, edges)}
LABELS = [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]


def expected(accepts: object, word: tuple[frozenset[str], ...], pay: str) -> list[float]:
    """Return what each step pays, from the acceptance of all that was seen before and after it."""
    seen = [False, *(accepts(word[: end + 1]) for end in range(len(word)))]  # type: ignore[operator]
    if pay == "each":
        return [float(now) for now in seen[1:]]
    if pay == "first":
        return [float(now and not any(seen[:step])) for step, now in enumerate(seen) if step]
    return [float(now) - float(before) for before, now in pairwise(seen)]


@pytest.mark.parametrize("pay", ["first", "each", "end"])
@pytest.mark.parametrize("name", AUTOMATA)
def test_every_word_pays_by_what_is_accepted(name: str, pay: str) -> None:
    text, accepts = AUTOMATA[name]
    machine = read_hoa(text, "m.hoa", pay)
    for length in range(6):
        for word in product(LABELS, repeat=length):
            assert machine.expected_rewards(word).tolist() == expected(accepts, word, pay), word


def test_states_are_called_by_their_names_and_the_empty_word_does_not_pay() -> None:
    machine = read_hoa(STATES, "m.hoa", "each")
    assert machine.states == ("start", "failed", "odd")  # no word leads to "never met"
    assert read_hoa(EDGES, "m.hoa").states == ("start", "1", "done")


def test_an_unknown_way_to_pay_is_refused() -> None:
    with pytest.raises(ParameterError, match="pay='frist'; expected 'first', 'each' or 'end'"):
        read_hoa(STATES, "m.hoa", "frist")


def test_aliases_within_aliases_expand_to_no_endless_label() -> None:
    aliases = "".join(f"Alias: @a{i + 1} @a{i} & @a{i}\n" for i in range(40))
    text = EDGES.replace("Alias: @both", f"Alias: @a0 0\n{aliases}Alias: @both")
    with pytest.raises(PraemiaError, match="a label of more than 100,000 characters"):
        read_hoa(text, "m.hoa")
