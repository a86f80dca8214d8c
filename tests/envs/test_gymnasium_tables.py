"""Labelled MDPs from Gymnasium's transition tables, against value iteration on the tables themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.spaces import Discrete
from hypothesis import given
from hypothesis import strategies as st

from praemia.envs import from_gymnasium
from praemia.errors import ModelError, PraemiaError
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
Event = Callable[[int, int, int, float], float]
TAXI = next((name for name in ("Taxi-v4", "Taxi-v3") if name in gymnasium.registry), "Taxi-v3")
CLIFF = next((name for name in ("CliffWalking-v1", "CliffWalking-v0") if name in gymnasium.registry), "")


class TableEnv(gymnasium.Env):
    """An environment that is its table."""

    def __init__(self, table: Table) -> None:
        self.P = table
        self.observation_space = Discrete(len(table))
        self.action_space = Discrete(len(table[0]))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}


def table_value(table: Table, start: dict[int, float], horizon: int, event: Event) -> float:
    """Return the best expected sum of event rewards; an episode is over at the flag."""
    values = dict.fromkeys(table, 0.0)
    for _ in range(horizon):
        values = {
            s: max(
                sum(p * (event(s, a, z, r) + (0.0 if over else values[z])) for p, z, r, over in row)
                for a, row in rows.items()
            )
            for s, rows in table.items()
        }
    return sum(p * values[s] for s, p in start.items())


def start_of(env: gymnasium.Env) -> dict[int, float]:
    return {s: float(p) for s, p in enumerate(env.unwrapped.initial_state_distrib) if p > 0.0}


def paying(**rewards: float) -> Any:
    """Return a machine of one state that pays for propositions, of which one holds at a time."""
    builder = MachineBuilder("q", propositions=rewards)
    for name, reward in rewards.items():
        others = "".join(f" & !{other}" for other in rewards if other != name)
        builder.edge("q", name + others, "q", reward=reward)
    return builder.build()


@pytest.mark.parametrize("kwargs", [{}, {"is_slippery": False}, {"map_name": "8x8"}])
@pytest.mark.parametrize("horizon", [1, 6, 30])
def test_frozen_lake_has_the_value_of_its_own_rewards(kwargs: dict[str, Any], horizon: int) -> None:
    env = gymnasium.make("FrozenLake-v1", **kwargs)
    goal = env.observation_space.n - 1
    mdp = from_gymnasium("FrozenLake-v1", [LabelRule(frozenset({"goal"}), target=goal)], **kwargs)
    expected = table_value(env.unwrapped.P, start_of(env), horizon, lambda s, a, z, r: r)
    assert mdp.num_observations == env.observation_space.n
    assert solve(Task(mdp, paying(goal=1), horizon)).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("is_slippery", [False, True])
@pytest.mark.parametrize("horizon", [5, 13, 40])
def test_cliff_walking_ends_at_the_goal_by_the_flag(is_slippery: bool, horizon: int) -> None:
    env = gymnasium.make(CLIFF, is_slippery=is_slippery)
    edge = range(24, 36)  # the row above the cliff
    rules = [
        LabelRule(frozenset({"goal"}), target=47),
        *(LabelRule(frozenset({"edge"}), target=o) for o in edge),
    ]
    mdp = from_gymnasium(env, rules)

    def event(s: int, a: int, z: int, reward: float) -> float:
        return 0.5 if z == 47 else 0.01 if z in edge else 0.0

    expected = table_value(env.unwrapped.P, start_of(env), horizon, event)
    assert mdp.num_observations == 48
    assert mdp.ends[mdp.successors == 47].all()
    assert solve(Task(mdp, paying(goal=0.5, edge=0.01), horizon)).value == pytest.approx(expected, abs=1e-12)


def test_taxi_pays_for_the_drop_off() -> None:
    env = gymnasium.make(TAXI)

    def labels(o: int, a: int, z: int) -> set[str]:
        passenger, destination = z // 4 % 5, z % 4
        return {"delivered"} if a == 5 and o // 4 % 5 == 4 and passenger == destination else set()

    mdp = from_gymnasium(env, labels)
    expected = table_value(env.unwrapped.P, start_of(env), 14, lambda s, a, z, r: float(r == 20))
    assert 0.3 < expected < 1.0
    assert solve(Task(mdp, paying(delivered=1), 14)).value == pytest.approx(expected, abs=1e-12)


BOTH_WAYS: Table = {
    0: {0: [(0.5, 1, 0.0, True), (0.25, 1, 0.0, False), (0.25, 1, 0.0, False)], 1: [(1.0, 2, 0.0, True)]},
    1: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 1, 0.0, False)]},
    2: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 1, 0.0, False)]},
}


def test_an_observation_entered_both_ways_is_one_and_its_ends_are_told_apart() -> None:
    mdp = from_gymnasium(TableEnv(BOTH_WAYS), lambda o, a, z: {f"to{z}"})
    row = slice(*mdp.indptr[:2])
    assert mdp.num_observations == 3
    assert mdp.successors[row].tolist() == [1, 1]
    assert mdp.ends[row].tolist() == [False, True]
    assert mdp.probs[row].tolist() == [0.5, 0.5]
    assert mdp.to_dense()[0, 0].tolist() == [0.0, 1.0, 0.0]
    assert mdp.to_dense()[2, 0].tolist() == [1.0, 0.0, 0.0], "rows are the table's own, also where episodes end"
    assert set(mdp.label_sets) == {frozenset({f"to{z}"}) for z in range(3)}


def test_nothing_is_paid_once_an_episode_has_ended() -> None:
    mdp = from_gymnasium(TableEnv(BOTH_WAYS), [LabelRule(frozenset({"tick"}))])
    task = Task(mdp, paying(tick=1), 10)
    values = solve(task).values
    expected = table_value(BOTH_WAYS, {0: 1.0}, 10, lambda s, a, z, r: 1.0)
    assert values[0, 0, 0] == pytest.approx(expected, abs=1e-12)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    size, actions = draw(st.integers(1, 5)), draw(st.integers(1, 3))

    def row() -> list[tuple[float, int, float, bool]]:
        weights = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
        return [(w / sum(weights), draw(st.integers(0, size - 1)), 0.0, draw(st.booleans())) for w in weights]

    return {s: {a: row() for a in range(actions)} for s in range(size)}


@given(tables(), st.integers(1, 6))
def test_any_table_keeps_its_value(table: Table, horizon: int) -> None:
    def reward(s: int, a: int, z: int) -> float:
        return (3 * s + 5 * a + 7 * z) % 4 / 4

    mdp = from_gymnasium(TableEnv(table), lambda s, a, z: {f"r{4 * reward(s, a, z):g}"})
    machine = paying(r0=0, r1=0.25, r2=0.5, r3=0.75)
    expected = table_value(table, {0: 1.0}, horizon, lambda s, a, z, r: reward(s, a, z))
    assert solve(Task(mdp, machine, horizon)).value == pytest.approx(expected, abs=1e-12)


def test_labels_in_the_environments_own_terms_name_its_observations() -> None:
    env = TableEnv(BOTH_WAYS)
    env.observation_space = Discrete(3, start=4)
    env.P = {
        s + 4: {a: [(p, z + 4, r, over) for p, z, r, over in row] for a, row in rows.items()}
        for s, rows in BOTH_WAYS.items()
    }
    env.initial_state_distrib = [1.0, 0.0, 0.0]
    mdp = from_gymnasium(env, {6: "two"})
    assert [set(mdp.label_sets[label]) for label in mdp.labels[mdp.successors == 2]] == [{"two"}]


class TimeLimit(wrappers.TimeLimit):
    """A wrapper of a known name, but nobody knows what it does."""


def both_ways() -> TableEnv:
    return TableEnv(BOTH_WAYS)


SWAP = wrappers.TransformAction(both_ways(), lambda a: 1 - a, Discrete(2))
WRAPPED = r"TableEnv is wrapped in {}, .*env\.unwrapped"
OUTSIDE = r"labels: found .*, outside the space Discrete\(16\)"
WRONG: list[tuple[Any, str]] = [
    *((lambda n=name: from_gymnasium(n, []), f"no environment '{name}'")
      for name in ("FrozenLak-v1", "NoSuch-v0", "nonsense", "nomodule_x:Env-v0")),
    (lambda: from_gymnasium("CartPole-v1", []), r"CartPole-v1's observation space is Box.*not finite.*BlackBox"),
    (lambda: from_gymnasium(both_ways(), [], is_slippery=True), "is_slippery"),
    (lambda: from_gymnasium("FrozenLake-v1", [], no_such_argument=1), "FrozenLake-v1"),
    (lambda: from_gymnasium(TAXI, [], fickle_passenger=True), "fickle"),
    (lambda: from_gymnasium("Blackjack-v1", []), "Blackjack-v1 has no transition table"),
    (lambda: from_gymnasium(None, []), r"env=None; expected a Gymnasium environment"),  # type: ignore[arg-type]
    *((lambda table=table: from_gymnasium(TableEnv(table), []), message)
      for table, message in (
          ({0: {0: [(1.0, 0)]}}, "its table is not P"),
          ({0: {0: [(1.0, 7, 0.0, False)]}}, "leads outside"),
          ({0: {0: [(0.5, 0, 0.0, False)]}}, "sum to 0.5"),
          ({0: {0: []}}, "leads outside"),
      )),
    (lambda: from_gymnasium(SWAP, []), WRAPPED.format("TransformAction")),
    (lambda: from_gymnasium(wrappers.TimeLimit(SWAP, 9), []), WRAPPED.format("TransformAction")),
    (lambda: from_gymnasium(wrappers.StickyAction(both_ways(), 0.5), []), WRAPPED.format("StickyAction")),
    (lambda: from_gymnasium(TimeLimit(both_ways(), 9), []), WRAPPED.format("TimeLimit")),
    (lambda: from_gymnasium("FrozenLake-v1", {99: "goal"}), OUTSIDE),
    (lambda: from_gymnasium("FrozenLake-v1", {"goal": "goal"}), OUTSIDE),  # type: ignore[dict-item]
    *((lambda labels=labels: LabeledMDP.from_rows(1, 1, {(0, 0): {0: 1.0}}, labels), "expected")
      for labels in (["one"], [5], {1: 5}, {"x": "one"}, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_has_no_table_that_says_all_is_one_clear_error(make: Any, message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        make()


def test_wrappers_that_leave_the_table_alone_are_taken() -> None:
    plain = from_gymnasium(TableEnv(BOTH_WAYS), [])
    env = wrappers.ClipReward(wrappers.TimeLimit(wrappers.RecordEpisodeStatistics(TableEnv(BOTH_WAYS)), 9), 0.0, 1.0)
    np.testing.assert_array_equal(from_gymnasium(wrappers.OrderEnforcing(env), []).to_dense(), plain.to_dense())


def test_a_random_start_must_be_given() -> None:
    class Anywhere(TableEnv):
        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            return int(self.np_random.integers(2)), {}

    env = Anywhere(BOTH_WAYS)
    with pytest.raises(ModelError, match=r"2 different first observations.*initial_state_distrib.*the 3 observations"):
        from_gymnasium(env, [])
    env.initial_state_distrib = [0.5, 0.5, 0.0]  # type: ignore[attr-defined]
    assert from_gymnasium(env, []).start_probs.tolist() == [0.5, 0.5, 0.0]
