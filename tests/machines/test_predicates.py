"""Predicates mean what Python means by the same text, one step at a time and in batches; mistakes have their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Text, Tuple
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import ModelError
from praemia.labels import predicates

NAMES = ["x", "y", "z"]
NUMBERS = st.sampled_from(["x", "y", "before.x", "before.z", "action", "observation[2]", "0", "1.5", ".5", "2e1"])


def joined(parts: st.SearchStrategy[str], operators: list[str]) -> st.SearchStrategy[str]:
    return st.tuples(parts, st.sampled_from(operators), parts).map(" ".join)


def sums() -> st.SearchStrategy[str]:
    return st.recursive(
        NUMBERS,
        lambda inner: st.one_of(
            joined(inner, ["+", "-", "*"]), inner.map(lambda text: f"({text})"), inner.map(lambda text: f"-{text}")
        ),
        max_leaves=6,
    )


def truths() -> st.SearchStrategy[str]:
    compared = joined(sums(), ["<", "<=", ">", ">=", "==", "!="])
    chains = st.tuples(compared, st.sampled_from(["<", ">="]), sums()).map(" ".join)
    return st.recursive(
        compared | chains,
        lambda inner: st.one_of(
            joined(inner, ["and", "or"]), inner.map(lambda text: f"({text})"), inner.map(lambda text: f"not {text}")
        ),
        max_leaves=5,
    )


class Before:
    def __init__(self, values: Any) -> None:
        self.x, self.y, self.z = values


@given(truths(), st.lists(st.integers(-3, 3), min_size=7, max_size=7))
def test_a_predicate_means_what_python_means_by_it(text: str, numbers: list[int]) -> None:
    before, after, action = np.array(numbers[:3]) / 2, np.array(numbers[3:6]) / 2, numbers[6]
    names = {**dict(zip(NAMES, after, strict=True)), "before": Before(before), "observation": after, "action": action}
    expected = eval(text, {}, names)
    spelled = text.replace(" and ", "&").replace(" or ", "|").replace("not ", "!").replace("-", "−").replace("*", "×")
    for written in (text, spelled):
        labels = predicates({"p": written}, names=NAMES)
        labels.require_spaces(Box(-9, 9, (3,)), Discrete(7, start=-3))
        assert labels(before, action, after, {}) == (frozenset({"p"}) if expected else frozenset()), written


@given(st.lists(truths(), min_size=1, max_size=3), st.integers(1, 5), st.integers(0, 2**20))
def test_a_batch_is_every_step_by_itself(texts: list[str], size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, after = rng.integers(-4, 5, (2, size, 3)).astype(np.float32) / 2
    actions = rng.integers(-3, 4, size)
    labels = predicates({f"p{i}": text for i, text in enumerate(texts)}, names=NAMES)
    each = [labels(*step) for step in zip(before, actions, after, strict=True)]
    together = labels.batch(before, actions, after, size)
    assert together.dtype == bool
    assert together.tolist() == [[name in label for name in labels.texts] for label in each]


def test_dictionaries_tuples_and_arrays_are_read_by_key_and_index() -> None:
    space = Dict({"image": Box(0, 255, (2, 2), np.uint8), "floor": Discrete(4), "door-state": MultiDiscrete([2, 3])})
    labels = predicates({"deep": "image[0, 1] - image[1, 0] < 0", "up": 'floor > before.floor & "door-state"[1] == 2'})
    labels.require_spaces(space, Discrete(2))
    low = {"image": np.array([[0, 1], [2, 0]], dtype=np.uint8), "floor": 1, "door-state": np.array([0, 2])}
    high = low | {"floor": np.int64(2), "image": np.array([[0, 3], [2, 0]], dtype=np.uint8)}
    assert labels(low, 0, high) == {"up"}
    assert labels(high, 0, low) == {"deep"}  # 1 − 2 is below 0, though the image has no sign
    stacked = [{key: np.stack([one[key], two[key]]) for key in low} for one, two in ((low, high), (high, low))]
    assert labels.batch(stacked[0], np.array([0, 1]), stacked[1], 2).tolist() == [[False, True], [True, False]]
    pair = predicates({"p": "observation[1] == 3"})
    pair.require_spaces(Tuple((Discrete(2), Discrete(4))), Discrete(2))
    assert pair((0, 0), 0, (0, 3)) == {"p"}
    nested = predicates({"p": "observation[1, 0] > 0 and observation[2, 0] == 1", "q": "before.observation[1, 1] > 0"})
    nested.require_spaces(Tuple((Discrete(2), Box(-1, 1, (2,)), Tuple((Discrete(2),)))), Discrete(2))
    steps = [(0, np.array([-1.0, 1.0]), (1,)), (0, np.array([1.0, 0.0]), (1,))]
    assert nested(steps[0], 0, steps[1]) == {"p", "q"}
    together = [(np.zeros(2), np.stack([one[1], one[1]]), (np.ones(2),)) for one in steps]
    assert nested.batch(together[0], ({"a": np.zeros(2)},), together[1], 2).tolist() == [[True, True]] * 2
    assert predicates({"p": "observation == 5"})(0, 0, np.int64(5)) == {"p"}


def test_numbers_are_compared_in_the_precision_of_the_environment() -> None:
    end = np.array([0.6], dtype=np.float32)
    assert predicates({"p": "x <= 0.6 and x >= 0.6"}, names=["x"])(end, 0, end) == {"p"}


def test_division_by_zero_holds_as_in_arithmetic_with_infinity() -> None:
    labels = predicates({"p": "1 / x > 5", "q": "x ÷ x == 1"}, names=["x"])
    assert labels([0.0], 0, [0.0]) == {"p"}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("xx < 1", "column 1", "unknown name 'xx' (did you mean 'x'?)"),
        ("1 < before.q", "column 5", "unknown name 'q'"),
        ("abs(x) < 1", "column 4", "found '(x)': functions cannot be called; expected an operator (and or <"),
        ("x.real < 1", "column 2", "found '.real'; expected an operator"),
        ("x = 1", "column 3", "found '='; expected an operator (and or < <= > >= == !="),
        ("x", "column 1", "this is a number; compare it"),
        ("x < 1 and y", "column 11", "this is a number; compare it"),
        ("(x < 1) + 1 > 0", "column 2", "this is true or false, not a number"),
        ("(0 < x) <= 1", "column 2", "this is true or false, not a number"),
        ("x <", "column 4", "unexpected end of expression; expected a name, a number or '('"),
        ("(x < 1", "column 7", "unexpected end of expression; expected an operator"),
        ("x < 1 y", "column 7", "found 'y'; expected an operator"),
        ("x < 1 and\ny # 2", "line 2, column 3", "found '#'"),
        ("before.action == 1", "column 8", "found 'action'; expected the name of a number of the observation before"),
        ("before < 1", "column 1", "found 'before'; expected the name of a number of the observation before"),
        ("observation[-1] < 0", "column 13", "found '-1'; expected an index, an integer from 0"),
        (" + ".join("x" * 300) + " < 1", "column 801", "more than 400 names, numbers and operators"),
        ("", "column 1", "unexpected end of expression"),
    ],
)
def test_a_mistake_has_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(ModelError) as error:
        predicates({"ok": "x < 1", "p": text}, names=["x", "y"])
    assert str(error.value).startswith(f"predicate 'p', {place}: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("observation < 1", "column 1: observation of Box.* is not a number; write observation\\[0\\]"),
        ("0 < observation[2]", r"column 5: observation\[2\] is outside of Box"),
        ("observation[0, 0] < 1", r"column 1: observation\[0, 0\] of Box.* write observation\[0\]"),
        ("speed < 1", "column 1: unknown name 'speed' .known: observation, action"),
        ("action[0] == 1", r"column 1: action\[0\] of Discrete\(3\) is not a number; write action"),
    ],
)
def test_names_are_checked_against_the_spaces(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        predicates({"p": text}).require_spaces(Box(-1, 1, (2,)), Discrete(3))


def test_an_index_into_a_tuple_says_what_is_missing() -> None:
    space = Dict({"t": Tuple((Discrete(2), Box(-1, 1, (2, 2))))})
    for text, message in (
        ("t[1] > 0", r"write t\[1, 0, 0\]"),
        ("t[0, 3] > 0", r"write t\[0\]"),
        ("t[2] > 0", "not a number"),
    ):
        with pytest.raises(ModelError, match=message):
            predicates({"p": text}).require_spaces(space, Discrete(2))


def test_text_is_not_a_number() -> None:
    with pytest.raises(ModelError, match=r"mission is Text.*, which is not a number"):
        predicates({"p": "mission == 1"}).require_spaces(Dict({"mission": Text(5)}), Discrete(3))
    with pytest.raises(ModelError, match=r"predicate 'p', 'observation > 1', has no value on 'a', 0, 'b'"):
        predicates({"p": "observation > 1"})("a", 0, "b")
