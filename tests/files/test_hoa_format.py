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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("HOA: v1", "HOA: v2", "m.hoa:1:6: stopped at 'v2'; expected a deterministic automaton"),
        ("1 Inf(0)", "2 Inf(0) & Inf(1)", "m.hoa:7:13: stopped at '2 Inf(0) & Inf(1)'; expected"),
        ("1 Inf(0)", "1 Fin(0)", "m.hoa:7:15: stopped at 'Fin(0)'; expected"),
        ("Acceptance: 1 Inf(0)\n", "", "m.hoa: a header is missing: Start: with one of the states, or Acceptance:"),
        ("Start: 0\n", "Start: 0\nStart: 1\n", "m.hoa:5: this header is given twice"),
        ("Start: 0\n", "Start: 0 & 1\n", "m.hoa:4:10: stopped at '& 1'; expected"),
        ("Start: 0\n", "Start: 7\n", "m.hoa: a header is missing: Start: with one of the states"),
        ("Start: 0\n", "", "m.hoa: a header is missing: Start: with one of the states"),
        ("[!0 & !1] 0\n", "[!1] 0\n", "m.hoa:12: state 'even': rules 'a' and '!b' both match the label {a}"),
        ("[0] 0 /*", "[0] 1 & 0 /*", "m.hoa:14:7: stopped at '& 0 /* back */'; expected"),
        ("[0] 0 /*", "[0] 9 /*", "m.hoa:14: state 'odd' on 'a': unknown state '9'"),
        ("[0] 0 /*", "[2] 0 /*", "m.hoa:14: 2 in a label: no alias, and no index of a proposition, counted from 0"),
        ("[0] 0 /*", "[@x] 0 /*", "m.hoa:14: @x in a label"),
        ("[0] 0 /*", "0 /*", "m.hoa:14:1: stopped at '0 /* back */'; expected a deterministic automaton"),
        ('AP: 2 "a" "b"', 'AP: 3 "a" "b"', "m.hoa:5: 3 propositions are announced and 2 named"),
        ("State: 1", "State: 0", "m.hoa: a state is given twice"),
        ("acc-name: Buchi", "Strange: 3", "m.hoa:6:1: stopped at 'Strange: 3'; expected"),
        ("--END--", "", "m.hoa:19:1: it ends too early"),
        ("AP: 2", "AP: " + "1" * 5_000, "m.hoa:5: a number of 5,000 digits; at most 300 are read"),
        ('"b"', '"a"', "m.hoa: proposition 'a' is listed twice"),
        ("[!0&!1] 1", "[!0&&1] 1", 'm.hoa:15: guard \'! "a" & & "b"\': stopped at \'& "b"\''),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, message: str) -> None:
    assert old in STATES
    with pytest.raises(PraemiaError) as caught:
        read_hoa(STATES.replace(old, new, 1), "m.hoa", "each")
    assert message in str(caught.value)
    assert str(caught.value).count("m.hoa") == 1


def test_an_unknown_way_to_pay_is_refused() -> None:
    with pytest.raises(ParameterError, match="pay='frist'; expected 'first', 'each' or 'end'"):
        read_hoa(STATES, "m.hoa", "frist")


def test_aliases_within_aliases_expand_to_no_endless_label() -> None:
    aliases = "".join(f"Alias: @a{i + 1} @a{i} & @a{i}\n" for i in range(40))
    text = EDGES.replace("Alias: @both", f"Alias: @a0 0\n{aliases}Alias: @both")
    with pytest.raises(PraemiaError, match="a label of more than 100,000 characters"):
        read_hoa(text, "m.hoa")
