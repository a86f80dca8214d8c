"""What is no machine, no reward, no formula and no parameter is refused with what is wrong, and what to do instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from praemia import LabeledMDP, MachineBuilder, PraemiaError, Reward, RewardMachine
from praemia.errors import ModelError, ParameterError, SizeError
from praemia.labels import predicates
from praemia.machines.from_formulas import machine_from
from praemia.machines.labels import LabelRule
from praemia.machines.syntax import parse_guard

FETCH, COIN = (RewardMachine.from_ltlf(text) for text in ("F(item & X F delivery)", "F(a & X F b)"))
ARRAYS = COIN.with_chance({"a": 0.25}).to_arrays(["a", "b"])
NAMES = [f"p{i}" for i in range(17)]


def machine(*others: Any, states: Any = ("q", "r"), initial: str = "q", names: Any = ("a", "b"), **rule: Any) -> Any:
    """Make a machine with a rule, of which some parts are given, and others."""
    return RewardMachine(states, initial, names, [{"from": "q", "when": "a", "to": "r"} | rule, *others])


def labelled(**place: Any) -> LabeledMDP:
    return LabeledMDP.from_rows(1, 1, {(0, 0): {0: 1.0}}, labels=[LabelRule("there", **place)])


REFUSED: dict[type[PraemiaError], list[tuple[Callable[[], object], str]]] = {
    ModelError: [
        (lambda: machine(states=()), "without states"),
        (lambda: machine(states=("q", "r", "q")), "state 'q' is listed twice"),
        (lambda: machine(states=[0]), "the state 0 is not text; write '0'"),
        (lambda: machine(names=("a", "a")), "proposition 'a' is listed twice"),
        (lambda: machine(names=[1]), "the proposition 1 is not text"),
        (lambda: machine(**{"from": "elsewhere"}), "state 'elsewhere' on 'a': unknown state 'elsewhere'"),
        (lambda: machine(to="rr"), r"unknown state 'rr' \(did you mean 'r'\?\)"),
        (lambda: machine(when="a & c"), "state 'q' on 'a & c': unknown proposition 'c'"),
        (lambda: machine(to={}), "state 'q' on 'a': it leads nowhere"),
        (lambda: machine(to={"r": 1.5}), "state 'q' on 'a': probability 1.5; it must lie"),
        (lambda: machine(to={"r": math.nan}), "probability nan; it must lie"),
        (lambda: machine(to={"r": 0.5}), "state 'q' on 'a': probabilities sum to 0.5"),
        (lambda: machine(to={"r": 0.5, "q": 0.6}), "sum to 1.1; they must sum to 1"),
        (lambda: machine(to={"r": "often"}), "the outcome 'r' is 'often'"),
        (lambda: machine(pays=1), "expected a Rule, or a mapping with from, when, to and reward"),
        (lambda: machine({"from": "q", "to": "q"}), "expected a Rule, or a mapping"),
        (lambda: machine(("q", "b", "q")), "a rule is"),
        (
            lambda: machine({"from": "q", "when": "b | !a", "to": "q"}),
            r"state 'q': rules 'a' and 'b \| !a' both match the label \{a, b\}.*set first_match=True",
        ),
        (
            lambda: machine({"from": "q", "when": "else", "to": "q"}, when="else"),
            "state 'q': a second rule on 'else'; a state has at most one",
        ),
        (
            lambda: MachineBuilder("q").edge("q", "a", "r", probability=0.8).build(),
            r"sum to 0\.8; they must sum to 1: add \.edge\('q', 'a', 'q', probability=0\.2\) if the rest stays",
        ),
        (lambda: parse_guard("else & a"), "'else' stands alone"),
        (lambda: Reward(()), "0 values"),
        (lambda: Reward((0.5, 0.6)), "2 values, 1 probabilities and 2 widths"),
        (lambda: Reward((1e200,)), r"a reward of 1e\+200; expected a number between"),
        *((lambda end=end: Reward((end,)), f"a reward of {end}") for end in (-math.inf, math.inf, math.nan)),
        (lambda: Reward((0.0, 1.0), (1.5, -0.5)), "probability 1.5"),
        (lambda: Reward((0.0, 1.0), (math.nan, 1.0)), "probability nan"),
        (lambda: Reward((0.0, 1.0), (0.5, 0.4)), "sum to 0.9"),
        (lambda: Reward((0.0, 1.0), (0.5, "x")), "a reward of 'x'; expected a number"),
        (lambda: Reward.bernoulli(1.5), r"probability 1\.5; it must lie in \[0, 1\]"),
        (lambda: Reward.uniform(2, 1), "the first must be the lower"),
        (lambda: Reward.uniform(0, 1e150), r"a reward of 1e\+150; expected"),
        *(
            (lambda make=make: make("x"), "a reward of 'x'; expected a number")
            for make in (Reward.of, Reward.bernoulli, lambda end: Reward.uniform(0, end))
        ),
        (lambda: FETCH.expected_rewards([{"item"}, {"itm"}]), r"step 2 .*'itm'.*did you mean 'item'"),
        (lambda: RewardMachine.from_ltlf("F itm", propositions=["item"]), "unknown proposition 'itm' .*'item'"),
        (lambda: RewardMachine.from_ltlf("F a & Y b"), r"future \(F\) and about the past \(Y\)"),
        (lambda: RewardMachine.from_ltlf("F true & O b"), "mixes operators"),
        (lambda: COIN.to_arrays(["a"]), "the machine reads the proposition 'b', which is not listed"),
        (lambda: COIN.to_arrays(["a", "b", "a"]), "proposition 'a' is listed twice"),
        (lambda: RewardMachine.from_ltlf("F a", reward=math.nan), "a reward of nan; expected a number between"),
        (lambda: Reward.from_data({"values": [1]}), "expected a number, 'bernoulli', 'values' together with"),
        (lambda: ARRAYS.next, "not deterministic: use targets and probs, or step"),
        *(
            (lambda place=place, number=number: labelled(**{place: number}), "expected an integer")
            for place in ("source", "action", "target")
            for number in (5 / 2, 0.5, math.nan, "1")
        ),
        (lambda: predicates(["x < 1"]), "expected a dictionary from propositions to predicates"),
        (lambda: predicates({"p": 3}), "predicate 'p' is 3; expected a text"),
        (lambda: predicates({5: "x < 1"}, ["x"]), "the proposition 5 is not text; write '5'"),
        (lambda: predicates({"": "x < 1"}, ["x"]), "the predicate 'x < 1' is for the proposition ''; give it a name"),
        (lambda: predicates({"p": "x < 1"}, ["x", "x"]), "name 'x' is listed twice"),
        (lambda: predicates({"p": "x < 1"}, ["x", "and"]), "names: 'and' cannot name a number"),
        (lambda: predicates({"p": "x < 1"}, ["x", "a b"]), "names: 'a b' cannot name a number"),
    ],
    ParameterError: [
        *(
            (make, r"propositions='ab'; expected several names, such as \['ab'\]")
            for make in (
                lambda: machine(names="ab"),
                lambda: MachineBuilder("q", propositions="ab"),
                lambda: RewardMachine.from_ltlf("F a", propositions="ab"),
                lambda: COIN.over("ab"),
                lambda: COIN.to_arrays("ab"),
            )
        ),
        (lambda: predicates({"p": "x < 1"}, "x"), "names='x'; expected several names"),
        (lambda: FETCH.with_chance({"item": 1.5}), r"noticing 'item' is 1.5; it must lie in \[0, 1\]"),
        (lambda: FETCH.with_chance([("item", 0.2)]), "expected a mapping from events"),
        (lambda: RewardMachine.from_ltlf({}), "no formula is given"),
        (lambda: RewardMachine.from_ltlf({"F a": 0.5}, reward=0.5), "rewards of their own"),
        (lambda: RewardMachine.from_ltlf({"F a": {"reward": 1.0, "pay": "often"}}), "pay='often'; expected 'first'"),
        (lambda: RewardMachine.from_ltlf({"F a": {"reward": 1.0, "when": "each"}}), "unknown key 'when'"),
        (lambda: RewardMachine.from_ltlf("F a", pay="frist"), "pay='frist'; expected 'first'"),
        (lambda: RewardMachine.from_ltlf("F a", max_states=0), "max_states=0"),
        (lambda: RewardMachine.from_ltlf("F a", syntax="spin"), "spin.*spot"),
        *(
            (lambda text=text: RewardMachine.from_ltlf(text), "expected text, or a mapping")
            for text in (3, ["F a"], None)
        ),
        *(
            (lambda own=own: machine_from("regex", "a b", syntax=own), f"syntax='{own}' .* no meaning for a regex")
            for own in ("spot", "ltlf2dfa")
        ),
        (lambda: ARRAYS.step([0], [0]), "not deterministic: give rng="),
        *(
            (lambda at=at: ARRAYS.step(*at, np.random.default_rng(0)), "are not all integers from 0 to")
            for at in (([3], [0]), ([-1], [0]), ([0], [4]), ([0.0], [0]), ([0], [-1]))
        ),
        *(
            (lambda own=own: COIN.potential(own), "expected a number from 0 to 1")
            for own in (-0.1, 1.1, math.nan, "0.9", None, True)
        ),
    ],
    SizeError: [
        (lambda: COIN.to_arrays(["a", "b", *NAMES[:15]]), r"17 propositions, with 2\^17 labels; at most 16"),
        (
            lambda: RewardMachine.from_ltlf({f"F a{i}": 1.0 + i for i in range(8)}, max_states=50),
            "outgrew its limit of 50 states",
        ),
        (
            lambda: RewardMachine.from_ltlf({f"F a{i}": 1.0 + i for i in range(24)}, max_states=5000),
            "^[^\n]*outgrew their limit of 10,000 different leaves[^\n]*$",
        ),
    ],
    PraemiaError: [
        (lambda: machine(initial="p"), "unknown machine state 'p'"),
        (lambda: FETCH.with_chance({"itm": 0.5}), "unknown proposition 'itm'"),
    ],
}


@pytest.mark.parametrize(
    ("error", "make", "message"), [(error, *row) for error, rows in REFUSED.items() for row in rows]
)
def test_what_is_wrong_is_refused(error: type[PraemiaError], make: Callable[[], object], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "kind", "column", "message"),
    [
        ("F(item & ", "formula", 10, "unexpected end of expression; expected a name"),
        ("F(item", "formula", 7, "unexpected end of expression; expected an operator"),
        ("item item", "formula", 6, "found 'item'; expected an operator"),
        ("a & | b", "formula", 5, "found '|'; expected a name"),
        ("a U", "formula", 4, "unexpected end of expression; expected a name"),
        ("a $ b", "formula", 3, "found '$'"),
        ("", "formula", 1, "unexpected end of expression; expected a name"),
        ("!(a b) c", "regex", 1, "'!' takes guards, not sequences or repetitions"),
        ("(a*) & b", "regex", 6, "'&' takes guards"),
        ("!!(a+)", "regex", 2, "'!' takes guards"),
        ("a & ", "regex", 5, "unexpected end of expression; expected a name"),
        ("a b)", "regex", 4, "found ')'; expected"),
        ("* a", "regex", 1, "found '*'; expected a name"),
        ("", "regex", 1, "unexpected end of expression"),
    ],
)
def test_a_mistake_is_shown_with_a_caret_under_its_place(text: str, kind: str, column: int, message: str) -> None:
    with pytest.raises(ModelError) as error:
        machine_from(kind, text)
    said, shown, caret = str(error.value).split("\n")
    assert said.startswith(f"{kind}, column {column}: {message}")
    assert (shown, caret) == ("    " + text, "    " + " " * (column - 1) + "^")
