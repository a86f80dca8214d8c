"""Spaces of every finite kind are numbered alike: runs and tables are those of a plain environment."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Sequence, Text, Tuple
from hypothesis import given
from hypothesis import strategies as st

from praemia import BlackBox, MachineBuilder, Run, Task, envs, explore, learners, plan_from, simulate, solve
from praemia.envs.indexing import MAX_SIZE, EncodedIndex, FiniteIndex
from praemia.errors import ModelError, ParameterError

BITS = [np.array(bits) for bits in product((0, 1), repeat=3)]

# Eight observations and four actions of every kind, listed by hand in the order in which they are to be numbered.
OBSERVATIONS: dict[str, tuple[Any, list[Any]]] = {
    "Discrete": (Discrete(8), list(range(8))),
    "Discrete from -2": (Discrete(8, start=-2), list(range(-2, 6))),
    "MultiDiscrete": (MultiDiscrete([2, 4]), [np.array(pair) for pair in product(range(2), range(4))]),
    "MultiDiscrete from 5": (
        MultiDiscrete([4, 2], start=[5, 0]),
        [np.array(pair) for pair in product(range(5, 9), range(2))],
    ),
    "MultiDiscrete table": (MultiDiscrete([[2], [4]]), [np.array([[i], [j]]) for i in range(2) for j in range(4)]),
    "MultiBinary": (MultiBinary(3), BITS),
    "MultiBinary table": (MultiBinary([1, 3]), [bits[np.newaxis] for bits in BITS]),
    "Tuple": (
        Tuple((Discrete(2, start=1), MultiBinary(2))),
        [(1 + i, np.array([j, k])) for i, j, k in product(range(2), repeat=3)],
    ),
    "Dict": (
        Dict({"b": MultiDiscrete([2, 2]), "a": Discrete(2)}),  # Gymnasium sorts the keys
        [{"a": i, "b": np.array([j, k])} for i, j, k in product(range(2), repeat=3)],
    ),
    "nested": (
        Dict({"x": Tuple((Discrete(2), Dict({"y": Discrete(2)}))), "z": Discrete(2)}),
        [{"x": (i, {"y": j}), "z": k} for i, j, k in product(range(2), repeat=3)],
    ),
}
ACTIONS: dict[str, tuple[Any, list[Any]]] = {
    "Discrete": (Discrete(4), list(range(4))),
    "Discrete from 1": (Discrete(4, start=1), list(range(1, 5))),
    "MultiDiscrete": (MultiDiscrete([2, 2]), [np.array(pair) for pair in product(range(2), repeat=2)]),
    "MultiBinary": (MultiBinary(2), [np.array(pair) for pair in product(range(2), repeat=2)]),
    "Tuple": (Tuple((Discrete(2), Discrete(2))), list(product(range(2), repeat=2))),
    "Dict": (Dict({"u": Discrete(2), "v": Discrete(2)}), [{"u": i, "v": j} for i, j in product(range(2), repeat=2)]),
}
KINDS = [(o, "Discrete") for o in OBSERVATIONS] + [("Discrete", a) for a in ACTIONS if a != "Discrete"]
kinds = pytest.mark.parametrize(("observations", "actions"), [*KINDS, ("nested", "Dict")])


def same(first: Any, second: Any) -> bool:
    """Tell whether two elements of a space are the same."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return np.array_equal(first, second)


def place(elements: list[Any], element: Any) -> int:
    (found,) = (number for number, listed in enumerate(elements) if same(listed, element))
    return found


def key(element: Any) -> Any:
    """Return an element as a whole number or a tuple of whole numbers, as tables have it."""
    if isinstance(element, dict):
        element = tuple(element.values())
    if isinstance(element, tuple):
        return tuple(number for part in element for number in np.ravel(key(part)).tolist())
    return tuple(np.ravel(element).tolist()) if np.ndim(element) else int(element)


class Ring(gymnasium.Env[Any, Any]):
    """Eight places in a ring; the action says how many to go, and a coin may add one. It ends in place 7."""

    def __init__(self, observations: str = "Discrete", actions: str = "Discrete") -> None:
        self.observation_space, self.shown = OBSERVATIONS[observations]
        self.action_space, self.taken = ACTIONS[actions]
        numbers = {number: key(element) for number, element in enumerate(self.shown)}
        self.P = {
            numbers[o]: {
                key(action): [(0.5, numbers[(o + a + coin) % 8], 0.0, (o + a + coin) % 8 == 7) for coin in (0, 1)]
                for a, action in enumerate(self.taken)
            }
            for o in range(8)
        }

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.here = 0
        return self.shown[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.here = (self.here + place(self.taken, action) + int(self.np_random.integers(2))) % 8
        return self.shown[self.here], 0.0, self.here == 7, False, {}

    def labels(self, o: Any, a: Any, z: Any, info: dict[str, Any] | None = None) -> set[str]:
        """Label in the environment's own terms; an element or action that is not listed as it is fails here."""
        here, _, there = place(self.shown, o), place(self.taken, a), place(self.shown, z)
        return {"end"} if there == 7 else {"back"} if there < here else set()


def machine() -> Any:
    built = MachineBuilder("a", first_match=True).edge("a", "back", "b", reward=0.1).edge("b", "end", "c", reward=1.0)
    return built.edge("a", "end", "c", reward=0.3).build()


def box(observations: str = "Discrete", actions: str = "Discrete", **options: Any) -> BlackBox:
    env = Ring(observations, actions)
    return BlackBox(env, env.labels, machine(), 9, **options)


# One contract for every kind


@kinds
def test_elements_are_numbered_in_order(observations: str, actions: str) -> None:
    for space, elements in (OBSERVATIONS[observations], ACTIONS[actions]):
        index = FiniteIndex(space)
        assert index.size == len(elements)
        for number, element in enumerate(elements):
            assert space.contains(element)
            assert index.number(element) == number
            assert same(index.element(number), element)
            assert index.key(number) == key(element)
        names = index.names() or tuple(map(str, elements))
        assert len(set(names)) == len(elements)


@cache
def plain_run(name: str) -> Run:
    return simulate(box(), learners.make(name), 20, 5)


@kinds
@pytest.mark.parametrize("name", ["headroom", "psrl"])
def test_a_run_is_that_of_the_plain_environment(observations: str, actions: str, name: str) -> None:
    plain, other = plain_run(name), simulate(box(observations, actions), learners.make(name), 20, 5)
    assert plain.returns.tobytes() == other.returns.tobytes()
    assert plain.final_policy.tobytes() == other.final_policy.tobytes()


@kinds
def test_a_table_is_that_of_the_plain_environment(observations: str, actions: str) -> None:
    plain, other = (Ring(), Ring(observations, actions))
    first, second = (envs.from_gymnasium(env, env.labels) for env in (plain, other))
    np.testing.assert_array_equal(first.to_dense(), second.to_dense())
    assert solve(Task(first, machine(), 9)).value == solve(Task(second, machine(), 9)).value
    assert (second.observation_names is None) == (observations == "Discrete")


def test_what_is_explored_keeps_its_names() -> None:
    data, plain = (explore(one, num_episodes=30, seed=1) for one in (box("nested", "Dict"), box()))
    np.testing.assert_array_equal(data.counts, plain.counts)
    assert plan_from(data, machine()).value == plan_from(plain, machine()).value
    assert data.observation_name(3) == "x=(0, y=1) z=1"


SPACES = st.recursive(
    st.builds(Discrete, st.integers(1, 4), start=st.integers(-3, 3))
    | st.builds(MultiDiscrete, st.lists(st.integers(1, 3), min_size=1, max_size=3))
    | st.builds(MultiBinary, st.integers(1, 3)),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(Tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3).map(Dict)
    ),
    max_leaves=3,
)


@given(space=SPACES, seed=st.integers(0, 2**31))
def test_numbers_and_elements_are_inverse(space: Any, seed: int) -> None:
    index = FiniteIndex(space)
    space.seed(seed)
    element = space.sample()
    number = index.number(element)
    assert 0 <= number < index.size
    assert same(index.element(number), element)
    assert space.contains(index.element(number))
    assert {index.number(index.element(n)) for n in range(index.size)} == set(range(index.size))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("Discrete", 8),
        ("Discrete", 0.5),
        ("Discrete", None),
        ("Discrete from -2", 6),
        ("MultiDiscrete", [2, 0]),
        ("MultiDiscrete", [0, 0, 0]),
        ("MultiBinary", [0, 1]),
        ("Tuple", (1,)),
        ("Dict", {"a": 0, "c": 1}),
        ("nested", 3),
        ("Discrete", np.inf),
        ("MultiDiscrete", [np.inf, 0]),
    ],
)
def test_what_is_outside_the_space_is_refused(kind: str, wrong: Any) -> None:
    with pytest.raises(ModelError, match=r"found .*, outside the space"):
        FiniteIndex(OBSERVATIONS[kind][0]).number(wrong)


@pytest.mark.parametrize(
    ("space", "part"),
    [
        (Box(0.0, 1.0, (2,)), ""),
        (Text(3), ""),
        (Sequence(Discrete(2)), ""),
        (Tuple((Discrete(2), Box(0.0, 1.0, (2,)))), r"\(because of Box"),
    ],
)
def test_a_space_that_is_not_finite_is_refused_with_the_way_out(space: Any, part: str) -> None:
    env = Ring()
    env.observation_space = space
    with pytest.raises(ModelError, match=rf"Ring's observation space is .*not finite.*{part}.*encode=.*cells\("):
        BlackBox(env, env.labels, machine(), 9)
    env = Ring()
    env.action_space = space
    with pytest.raises(ModelError, match=rf"Ring's action space is .*not finite.*{part}.*DiscretizeAction"):
        BlackBox(env, env.labels, machine(), 9)


@pytest.mark.parametrize(("bits", "digits"), [(200, 60), (20_000, 6020)])  # log10(2) = 0.30103
def test_a_space_that_is_too_large_is_refused_with_the_way_out(bits: int, digits: int) -> None:
    env = Ring()
    env.observation_space = MultiBinary(bits)
    with pytest.raises(ModelError, match=rf"about 10\^{digits} elements, more than {MAX_SIZE:,}; give encode="):
        BlackBox(env, env.labels, machine(), 9)


# Observations by a function


def test_whole_numbers_are_taken_as_they_are() -> None:
    """A learner that plans with what it saw cannot tell an encoded environment from a plain one."""
    shown = OBSERVATIONS["nested"][1]
    encoded = box("nested", encode=lambda o: place(shown, o), num_observations=8)
    for name in ("ucbvi-prm", "q-learning"):
        plain, other = (simulate(b, learners.make(name), 40, 5) for b in (box(), encoded))
        assert plain.returns.tobytes() == other.returns.tobytes()
        assert plain.final_policy.tobytes() == other.final_policy.tobytes()


def test_other_things_are_numbered_as_they_appear() -> None:
    encoded = box(encode=lambda o: ("place", o), num_observations=10)
    first = simulate(encoded, learners.make("headroom"), 60, 3)
    assert next(iter(first.policy.observations.codes.items())) == (("place", 0), 0)
    assert encoded.num_observations == 10
    policy = first.final_policy.tobytes()
    simulate(encoded, learners.make("headroom"), 10, 4)
    again = simulate(encoded, learners.make("headroom"), 60, 3)  # what came in between makes no difference
    assert first.returns.tobytes() == again.returns.tobytes()
    assert policy == again.final_policy.tobytes()
    assert first.returns[-20:].mean() > 0.6  # the first visit of 7 pays 0.3 at most; round and there pays 1.1


def test_labels_see_more_than_what_is_encoded() -> None:
    """Learners see the half of the ring; the label is a function of the place. It pays to leave place 0."""
    env = Ring()
    moved = MachineBuilder("a").edge("a", "moved", "b", reward=1.0).build()
    half = BlackBox(env, lambda o, a, z, info: {"moved"} if o != z else set(), moved, 1, lambda o: o // 4, 2)
    run = simulate(half, learners.make("headroom"), 200, 0)
    assert run.returns[-50:].mean() == 1.0


def test_what_is_encoded_can_be_explored_and_merges_only_if_it_is_numbered_alike() -> None:
    encoded = box(encode=lambda o: ("place", o), num_observations=8)
    data, other = (explore(encoded, num_episodes=300, seed=seed) for seed in (1, 2))
    assert data.observation_name(0) == "('place', 0)"
    env = Ring()
    optimum = solve(Task(envs.from_gymnasium(env, env.labels), machine(), 9)).value
    assert abs(plan_from(data, machine()).value - optimum) < 0.1
    assert data.observation_names != other.observation_names
    with pytest.raises(ModelError, match="only data of one environment merges"):
        data.merge(other)
    whole = box(encode=lambda o: o, num_observations=8)
    first, second = (explore(whole, num_episodes=80, seed=seed) for seed in (1, 2))
    assert first.merge(second).num_episodes == 160


@pytest.mark.parametrize("name", ["psrl", "ucrl2-rm-l", "ucrl2-rm-b"])
def test_learners_that_ask_about_steps_not_taken_are_refused_on_what_is_encoded(name: str) -> None:
    encoded = box(encode=lambda o: o, num_observations=8)
    with pytest.raises(
        ParameterError, match=rf"'{name}' needs the labels of steps that were not taken.*such as headroom"
    ):
        simulate(encoded, learners.make(name), 5)


@pytest.mark.parametrize(
    ("encode", "limit", "message"),
    [
        (lambda o: [o], 8, r"encode returned \[0\], a list, which is not hashable.*tuple\(array\.tolist\(\)\)"),
        (lambda o: np.array([o]), 8, r"encode returned array\(\[0\]\), a ndarray, which is not hashable"),
        (lambda o: str(o), 3, r"encode returned '\d', after 3 different values; give a larger num_observations="),
        (lambda o: o, 3, r"encode returned \d, expected an integer from 0 to 2.*tuple"),
        (lambda o: o - 1, 8, r"encode returned -1, expected an integer from 0 to 7"),
        (lambda o: o or "home", 8, r"encode returned \d, and something else before; .*always or never"),
        (lambda o: ("away", o) if o else 0, 8, r"encode returned \('away', \d\), and integers before"),
    ],
)
def test_an_encode_function_that_makes_no_sense_is_refused(encode: Any, limit: int, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        simulate(box(encode=encode, num_observations=limit), learners.make("random"), 50)


def test_edges_may_be_as_far_apart_as_numbers_go() -> None:
    assert envs.cells(UNIT, [[-1.7e308, 0.5, 1.7e308], 2]).num_observations == 8


def cells(space: Any, bins: Any) -> Any:
    return lambda: envs.cells(space, bins)


UNIT = Box(0.0, 1.0, (2,))
WRONG: list[tuple[Any, str]] = [
    (lambda: box(encode=lambda o: o), "encode= without num_observations="),
    (lambda: box(encode=3, num_observations=3), "encode=3; expected a function"),
    (lambda: box(encode=lambda o: o, num_observations=-1), "num_observations=-1; expected an integer"),
    (lambda: box(encode=envs.cells(UNIT, 2), num_observations=0), "num_observations=0; expected"),
    (lambda: box(num_observations=3), "num_observations= without encode="),
    *((lambda env=env: BlackBox(env, {7: "end"}, machine(), 9), "env=.*; expected a Gymnasium environment")
      for env in (None, "FrozenLake-v1", Ring)),
    *((lambda other=other: BlackBox(Ring(), {7: "end"}, other, 9), "machine=.*; expected a RewardMachine")
      for other in (None, Ring)),
    (cells(Discrete(3), 2), "expected a Box"),
    (cells(UNIT, [2]), "bins has 1 entries; expected .* each of 2"),
    (cells(UNIT, 0), r"bins\[0\]=0; expected an integer"),
    (cells(Box(-np.inf, 1.0, (1,)), 2), r"no finite bounds \(-inf to 1.0\); give a list"),
    (cells(UNIT, [[0.5, 0.2], 1]), r"bins\[0\]=\[0.5, 0.2\]; expected .* increasing"),
    (cells(UNIT, 2.5), "bins=2.5; expected an integer, or an entry"),
    (cells(UNIT, None), "bins=None; expected an integer, or an entry"),
    (cells(UNIT, [3, "a"]), r"bins\[1\]='a'; expected an integer, or increasing"),
    (cells(UNIT, 10**9), r"bins\[0\]=1000000000; expected an integer from 1 to"),
    (cells(Box(0.0, 1.0, (20_000,)), 2), rf"about 10\^6020 cells, more than {MAX_SIZE:,}; give fewer bins"),
    *((lambda element=element: envs.cells(UNIT, 2)(element), "is in no cell")
      for element in ([np.nan, 0.0], ["a", 0.0], None)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises((ModelError, ParameterError), match=message):
        make()


def test_labels_are_given_a_copy_of_what_is_encoded() -> None:
    encoded = box("MultiDiscrete", encode=lambda o: tuple(o.tolist()), num_observations=8)
    own = np.array([0, 1])
    _, shown = encoded.observe(own)
    own[:] = 1
    assert shown.tolist() == [0, 1]


def test_a_limit_that_was_met_is_not_passed_by_asking_again() -> None:
    index = EncodedIndex(str, 2)
    assert [index.number(element) for element in (7, 8, 7)] == [0, 1, 0]
    for _ in range(2):
        with pytest.raises(ModelError, match="after 2 different values"):
            index.number(9)
    assert index.number(8) == 1


# The cells of a Box


def test_cells_are_where_one_would_draw_them() -> None:
    square = envs.cells(Box(0.0, 1.0, (2,)), 2)
    corners = [square([x, y]) for x in (0.2, 0.7) for y in (0.2, 0.7)]
    assert corners == [0, 1, 2, 3]
    assert (square([0.0, 0.0]), square([0.5, 0.5]), square([1.0, 1.0]), square([-9.0, 9.0])) == (0, 3, 3, 1)
    assert square.names == ("0,0", "0,1", "1,0", "1,1")
    uneven = envs.cells(Box(-np.inf, np.inf, (2,)), [1, [-1.0, 0.0, 5.0]])
    assert uneven.num_observations == 4
    assert [uneven([99.0, y]) for y in (-2.0, -0.5, 4.9, 5.0)] == [0, 1, 2, 3]
