"""Environments of all kinds with a machine around them: Gymnasium's checks, distributions, seeds, records."""

from __future__ import annotations

import itertools
import json
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, TimeAwareObservation, TimeLimit
from scipy.stats import chi2, chisquare

from praemia import (
    BlackBox,
    LabeledMDP,
    MachineBuilder,
    MachineWrapper,
    Reward,
    RewardMachine,
    Task,
    learners,
    simulate,
    solve,
)
from praemia.errors import ModelError, PraemiaError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about its own dependencies
    import minigrid  # noqa: F401  registers its environments


WORLDS: dict[str, Any] = {
    "CartPole-v1": lambda o, a, z, info: "right" if z[0] > 0.05 else "left" if z[0] < -0.05 else (),
    "MountainCar-v0": lambda o, a, z, info: {"left"} if z[0] < -0.55 else {"right"} if z[0] > -0.45 else set(),
    "Taxi-v4": lambda o, a, z, info: ["left"] if z // 20 % 5 < 2 else ["right"],
    "FrozenLake-v1": {0: "left", 4: "left", 8: {"left"}, 12: ["left"], **dict.fromkeys((3, 7, 11, 15), "right")},
    "MiniGrid-Empty-5x5-v0": lambda o, a, z, info: {2: "left", 0: "right"}.get(int(z["direction"]), ()),
}
MACHINE = RewardMachine.from_ltlf("F(right & F left)").over(["left", "right"])
MACHINE_WITH_CYCLE = MachineBuilder("a").edge("a", "event", "b").edge("b", "event", "a", reward=1.0).build()
NEGATIVE = MachineBuilder("a").edge("a", "event", "b", reward=-1.0).edge("b", "event", "c", reward=4.0).build()
worlds = pytest.mark.parametrize("name", WORLDS)


def wrap(name: str, machine: RewardMachine = MACHINE, **options: Any) -> MachineWrapper:
    return MachineWrapper(gymnasium.make(name), WORLDS[name], machine, **options)


def play(env: Any, steps: int, seed: int) -> list[Any]:
    """Play random actions; return what every step gave, from the first reset on."""
    env.action_space.seed(seed)
    told = [env.reset(seed=seed)]
    for _ in range(steps):
        told.append(env.step(env.action_space.sample()))
        if told[-1][2] or told[-1][3]:
            told.append(env.reset())
    return told


class Always(gymnasium.Env[Any, Any]):
    """An environment that shows random observations, has a reward of 0.25 a step, and ends after some steps."""

    action_space = Discrete(2)

    def __init__(self, space: Any, length: int = 10**9) -> None:
        self.observation_space, self.length = space, length

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.observation_space.sample(), 0.25, self.steps >= self.length, False, {"own": action}


def event(o: Any, a: Any, z: Any, info: dict[str, Any]) -> set[str]:
    return {"event"} if a == 1 else set()


def patterns_machine() -> RewardMachine:
    """Return a machine of three states: two events, one after the other."""
    return MachineBuilder("a").edge("a", "event", "b").edge("b", "event", "c", reward=1.0).build()


# Any environment


@worlds
@pytest.mark.filterwarnings("ignore:.*:UserWarning")  # check_env advises against wrappers and infinite bounds
@pytest.mark.parametrize("options", [{}, {"horizon": 20}, {"until_done": True}, {"add_reward": True}])
def test_gymnasium_finds_nothing_wrong(name: str, options: Any) -> None:
    check_env(wrap(name, **options), skip_render_check=True)


@worlds
def test_what_is_shown_lies_in_the_space_and_the_machine_follows_its_rules(name: str) -> None:
    env = wrap(name, horizon=30)
    state, reward_due = 0, 0.0
    for told in play(env, 150, 3):
        observation, info = told[0], told[-1]
        assert env.observation_space.contains(observation)
        label = set(info["label"])
        if len(told) == 2:
            state = MACHINE.index[MACHINE.initial]
        else:
            (out,) = MACHINE.outcomes(MACHINE.states[state], label)
            state, reward_due = MACHINE.index[out.target], out.reward.mean
            assert told[1] == reward_due
        assert observation["machine_state"] == state
        assert info["machine_state"] == MACHINE.states[state]


@worlds
def test_the_environment_plays_as_it_does_alone(name: str) -> None:
    """The machine takes no random number of the environment's, whatever it draws itself."""
    restless = MachineBuilder("a").edge("a", "left | !left", "b", probability=0.5, reward=Reward.bernoulli(0.5))
    machine = restless.edge("a", "left | !left", "a", probability=0.5).build().over(["left", "right"])
    alone, wrapped = gymnasium.make(name), wrap(name, machine)
    for own, with_machine in zip(play(alone, 60, 4), play(wrapped, 60, 4), strict=True):
        inner = with_machine[0]
        shown = {k: inner[k] for k in own[0]} if isinstance(own[0], dict) else inner["observation"]
        np.testing.assert_equal(shown, own[0])
        assert own[2:-1] == with_machine[2:-1]
        np.testing.assert_equal({key: with_machine[-1][key] for key in own[-1]}, own[-1])


@worlds
def test_the_same_seed_gives_the_same_episodes(name: str) -> None:
    machine = MACHINE.with_chance({"left": 0.5, "right": 0.5})
    first, again, other = (play(wrap(name, machine, horizon=20), 80, seed) for seed in (7, 7, 8))
    np.testing.assert_equal(first, again)
    assert [told[-1]["machine_state"] for told in first] != [told[-1]["machine_state"] for told in other]


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1"])
def test_vector_environments_show_what_single_ones_do(kind: Any, name: str) -> None:
    makers: list[Callable[[], Any]] = [lambda: FlattenObservation(wrap(name, horizon=15))] * 2
    many, single = kind(makers), [make() for make in makers]
    try:
        shown, _ = many.reset(seed=[3, 4])
        np.testing.assert_array_equal(
            shown, [env.reset(seed=seed)[0] for env, seed in zip(single, (3, 4), strict=True)]
        )
        actions = many.action_space.sample()
        shown, rewards, _, _, info = many.step(actions)
        steps = [env.step(action) for env, action in zip(single, actions, strict=True)]
        np.testing.assert_array_equal(shown, [step[0] for step in steps])
        assert rewards.tolist() == [step[1] for step in steps]
        assert list(info["label"]) == [step[4]["label"] for step in steps]
        assert list(info["machine_state"]) == [step[4]["machine_state"] for step in steps]
        for _ in range(40):
            many.step(many.action_space.sample())
    finally:
        many.close()


# How the machine's state is shown


def test_gymnasiums_wrappers_make_vectors_of_it_and_show_the_step() -> None:
    env = MachineWrapper(TimeLimit(Always(Box(0.0, 1.0, (2,))), 4), event, patterns_machine())
    timed = TimeAwareObservation(TimeLimit(env, 4), flatten=False, normalize_time=True)
    assert set(timed.observation_space.spaces) == {"machine_state", "observation", "time"}
    flat = FlattenObservation(env)
    first, _ = flat.reset(seed=0)
    second, *_ = flat.step(1)
    assert flat.observation_space.shape == (3 + 2,)
    assert (first[:3].tolist(), second[:3].tolist()) == ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])


def test_a_dictionary_keeps_its_own_entries() -> None:
    inner = Dict({"a": Discrete(2), "b": Discrete(2)})
    env = MachineWrapper(Always(inner), event, patterns_machine(), 4)
    assert set(env.observation_space.spaces) == {"a", "b", "machine_state"}
    assert env.observation_space.contains(env.reset(seed=0)[0])
    taken = Dict({"machine_state": Discrete(2)})
    with pytest.raises(ModelError, match="already have an entry 'machine_state'; rename"):
        MachineWrapper(Always(taken), event, patterns_machine())


# What is paid, and when an episode ends


def test_moves_and_rewards_have_the_machines_distribution() -> None:
    """χ² over all rows, error level 10⁻³ had the seed not been fixed."""
    law = Reward((0.0, 2.0), (0.25, 0.75))
    built = MachineBuilder("a").edge("a", "event", "b", probability=0.3, reward=law)
    machine = built.edge("a", "event", "a", probability=0.7).edge("b", "event", "a", reward=-1.0).build()
    env = MachineWrapper(Always(Discrete(2)), event, machine)
    env.reset(seed=11)
    counts: Counter[Any] = Counter()
    for _ in range(6_000):
        before = env.machine_state
        _, reward, *_ = env.step(1)
        counts[before, env.machine_state, reward] += 1
    visits = sum(count for (before, _, _), count in counts.items() if before == 0)
    expected = {(0, 0, 0.0): 0.7 * visits, (0, 1, 0.0): 0.3 * 0.25 * visits, (0, 1, 2.0): 0.3 * 0.75 * visits}
    assert set(counts) == {*expected, (1, 0, -1.0)}
    statistic = sum((counts[row] - mean) ** 2 / mean for row, mean in expected.items())
    assert statistic < chi2.isf(1e-3, 2)


def test_rewards_are_the_machines_or_the_sum() -> None:
    for add, paid in ((False, [0.0, 1.0]), (True, [0.25, 1.25])):
        env = MachineWrapper(Always(Discrete(2)), event, patterns_machine(), add_reward=add)
        env.reset(seed=0)
        assert [env.step(1)[1], env.step(1)[1]] == paid
        assert env.step(1)[4]["own"] == 1


def test_an_episode_is_truncated_at_the_horizon_and_ends_early_where_nothing_more_can_be_earned() -> None:
    short = MachineWrapper(Always(Discrete(2)), event, patterns_machine(), horizon=3)
    for _ in range(2):
        short.reset(seed=0)
        assert [short.step(1)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    for early in (False, True):
        env = MachineWrapper(Always(Discrete(2)), event, patterns_machine(), until_done=early)
        env.reset(seed=0)
        assert [env.step(1)[2], env.step(1)[2]] == [False, early]


def test_the_machine_halts_when_the_episode_has_ended() -> None:
    always = MachineBuilder("a").edge("a", "event | !event", "a", reward=1.0).build()
    env = MachineWrapper(Always(Discrete(2), length=2), event, always)
    env.reset(seed=0)
    steps = [env.step(1) for _ in range(4)]
    assert [step[1] for step in steps] == [1.0, 1.0, 0.0, 0.0]
    assert [step[4]["label"] for step in steps] == [("event",), ("event",), (), ()]


@pytest.mark.parametrize(
    ("machine", "settled"),
    [
        (patterns_machine(), {"c"}),
        (MachineBuilder("a").edge("a", "x", "b").edge("b", "y", "a").build(), {"a", "b"}),
        (MachineBuilder("a").edge("a", "x", "b", reward=-0.1).edge("b", "y", "a").build(), set()),
        (MachineBuilder("a").edge("a", "x", "b", reward=Reward((-1.0, 1.0), (0.5, 0.5))).build(), {"b"}),
        (MachineBuilder("a").edge("a", "x", "b", reward=Reward.uniform(-1.0, 1.0)).build(), {"b"}),
        (MachineBuilder("a").edge("a", "x", "b", probability=0.5).edge("a", "x", "c", probability=0.5)
         .edge("c", "x", "c", reward=1.0).build(), {"b"}),
    ],
)  # fmt: skip
def test_terminal_states_are_those_that_cannot_lead_to_a_reward(machine: RewardMachine, settled: set[str]) -> None:
    assert {machine.states[m] for m in machine.terminal_states} == settled


# Shaping


def discounted(env: Any, word: tuple[int, ...], discount: float) -> float:
    env.reset(seed=0)
    return sum(discount**t * env.step(action)[1] for t, action in enumerate(word))


@pytest.mark.parametrize("machine", [patterns_machine(), NEGATIVE, MACHINE_WITH_CYCLE])
@pytest.mark.parametrize("discount", [0.9, 0.5])
def test_shaped_returns_differ_by_the_potential_of_the_start_alone(machine: RewardMachine, discount: float) -> None:
    """Of every word: where episodes terminate, as at a finite horizon with Φ_H = 0, so that policies stay optimal."""
    potential, length = machine.potential(discount), 6
    start = potential[machine.index[machine.initial]]
    for word in itertools.product((0, 1), repeat=length):
        for options, steps in (({}, length), ({"horizon": length}, 99)):
            plain = MachineWrapper(Always(Discrete(2), steps), event, machine, **options)
            shaped = MachineWrapper(Always(Discrete(2), steps), event, machine, **options, shaping=discount)
            gained = discounted(shaped, word, discount) - discounted(plain, word, discount)
            at_end = 0.0 if steps == length else discount**length * potential[shaped.machine_state]
            assert gained == pytest.approx(at_end - start, abs=1e-12)


@pytest.mark.parametrize("machine", [patterns_machine(), NEGATIVE, MACHINE_WITH_CYCLE])
def test_shaping_keeps_the_optimal_policies_of_a_discounted_task(machine: RewardMachine) -> None:
    """The task is solved again with the rewards that the wrapper gives: its values are lower by Φ everywhere."""
    discount, builder = 0.8, MachineBuilder(machine.initial, machine.propositions)
    words = {machine.initial: ()}
    for state in machine.states:  # each is met before its successors
        for action in (0, 1):
            env = MachineWrapper(Always(Discrete(2)), event, machine, shaping=discount)
            env.reset(seed=0)
            rewards = [env.step(a)[1] for a in (*words[state], action)]
            target = machine.states[env.machine_state]
            words.setdefault(target, (*words[state], action))
            builder.edge(state, "event" if action else "!event", target, reward=rewards[-1])
    mdp = LabeledMDP.from_dense(np.random.default_rng(1).dirichlet(np.ones(4), (4, 2)), {3: "event"})
    built = builder.build()
    plain, shaped = (solve(Task(mdp, m, None, discount=discount)) for m in (machine, built))
    order = [built.states.index(state) for state in machine.states]
    potential = machine.potential(discount)[:, None]
    np.testing.assert_allclose(shaped.values[order], plain.values - potential, atol=1e-9)


# Rewards within a stage


def moved(o: Any, a: Any, z: Any, info: dict[str, Any]) -> float:
    return float(a) + 0.5


def test_stage_rewards_are_added_in_their_state_or_on_their_edge_which_comes_first() -> None:
    stages: Any = {"a": moved, ("a", "b"): lambda o, a, z, info: 10.0, "b": lambda o, a, z, info: info["own"] - 7}
    env = MachineWrapper(Always(Discrete(2)), event, patterns_machine(), stage_rewards=stages)
    env.reset(seed=0)
    steps = [env.step(action) for action in (0, 1, 0, 1, 1)]
    assert [step[1] for step in steps] == [0.5, 10.0, -7.0, -5.0, 0.0]
    assert [step[4]["stage_rewards"] for step in steps[:2]] == [
        {"a": 0.5, ("a", "b"): 10.0, "b": -7.0},
        {"a": 1.5, ("a", "b"): 10.0, "b": -6.0},
    ]


# Several machines


def test_one_of_several_machines_is_sampled_at_each_reset() -> None:
    other = MachineBuilder("x").edge("x", "event", "y", reward=3.0).edge("y", "late", "x").build()
    machines = [patterns_machine(), other, MACHINE_WITH_CYCLE]
    env = MachineWrapper(Always(Discrete(2)), event, machines, horizon=2)
    assert env.observation_space["machine_state"] == Discrete(3 + 2 + 2)
    met: Counter[int] = Counter()
    first_states, seeds = [], []
    for seed in range(600):
        observation, info = env.reset(seed=seed)
        i, machine = info["machine"], machines[info["machine"]]
        met[i] += 1
        first = (0, 3, 5)[i]
        assert env.machine.states == machine.states
        assert (observation["machine_state"], info["machine_state"]) == (first, machine.initial)
        observation, reward, _, _, info = env.step(1)
        (out,) = machine.outcomes(machine.initial, {"event"})
        assert (observation["machine_state"], reward) == (first + machine.index[out.target], out.reward.mean)
        assert (info["machine"], info["machine_state"]) == (i, out.target)
        seeds.append(env.reset(seed=seed)[1]["machine"])
        first_states.append(i)
    assert seeds == first_states
    assert chisquare(list(met.values())).pvalue > 1e-3


def test_an_episode_ends_in_the_done_states_of_each_machine() -> None:
    once = MachineBuilder("x").edge("x", "event", "y", reward=3.0).build()
    env = MachineWrapper(Always(Discrete(2)), event, [patterns_machine(), once], until_done=True)
    for seed in range(9):
        _, info = env.reset(seed=seed)
        assert [env.step(1)[2] for _ in range(2)] == [info["machine"] == 1, True]


# Records


def test_episodes_are_recorded_in_a_list_and_in_a_file(tmp_path: Path) -> None:
    kept: list[Any] = []
    for record in (kept, tmp_path / "traces.jsonl"):
        env = MachineWrapper(Always(Discrete(2)), event, patterns_machine(), horizon=3, record=record)
        for actions in ((1, 0, 1), (0, 1)):  # the second is broken off
            env.reset(seed=0)
            for action in actions:
                env.step(action)
        env.close()
    expected = [[[["event"], 0.0], [[], 0.0], [["event"], 1.0]], [[[], 0.0], [["event"], 0.0]]]
    assert kept == expected
    lines = (tmp_path / "traces.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == expected
    assert lines[1] == '[[[], 0.0], [["event"], 0.0]]'


def test_a_black_box_records_what_its_runs_earned(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    env = Always(Discrete(2), length=3)
    box = BlackBox(env, event, patterns_machine(), 5, record=path)
    run = simulate(box, learners.make("headroom"), 20, 0)
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    assert [len(episode) for episode in episodes] == [3] * 20  # without the steps after the end
    assert [sum(reward for _, reward in episode) for episode in episodes] == run.returns.tolist()
    machine = patterns_machine()
    for episode in episodes:
        assert machine.expected_rewards([label for label, _ in episode]).tolist() == [reward for _, reward in episode]


# Bad input


def wrapped(labels: Any = event, machine: Any = None, space: Any = None, **options: Any) -> MachineWrapper:
    env = Always(Discrete(2) if space is None else space)
    return MachineWrapper(env, labels, patterns_machine() if machine is None else machine, **options)


def first_step(env: MachineWrapper) -> None:
    env.reset(seed=0)
    env.step(0)


PIXELS = Box(0.0, 1.0, (50, 50, 3))
WRONG: list[tuple[Any, str]] = [
    (lambda: first_step(wrapped(lambda *step: {"evnt"}, space=PIXELS)),
     r"has the proposition 'evnt',.*\(did you mean 'event'\?\); use machine\.over"),
    (lambda: first_step(wrapped(lambda *step: None, space=PIXELS)), "is None; expected a set"),
    (lambda: first_step(wrapped({0: "event"}, space=Box(0.0, 1.0, (2,)))),
     "labels by next observation, and array.* is not hashable; give a function"),
    (lambda: wrapped(3), "labels=3; expected a function .* a dictionary"),
    (lambda: wrapped().reset(seed=-1), "seed=-1; expected"),
    (lambda: wrapped(horizon=0), "horizon=0; expected an integer"),
    (lambda: wrapped(add_reward=True, until_done=True), "until_done with add_reward"),
    (lambda: wrapped(add_reward=1), "add_reward=1; expected True or False"),
    (lambda: wrapped(stage_rewards=["a"]), r"stage_rewards=\['a'\]; expected functions by states"),
    (lambda: wrapped(stage_rewards={"a": len}, until_done=True), "until_done with stage_rewards"),
    (lambda: wrapped(shaping=2), "shaping: discount=2; expected a number"),
    (lambda: wrapped(record=3), "record=3; expected the path of a file, or a list"),
    (lambda: wrapped(record="no/such/folder/x.jsonl"), "folder does not exist"),
    (lambda: wrapped(stage_rewards={"d": moved}), "unknown machine state 'd'"),
    (lambda: wrapped(stage_rewards={("a", "z"): moved}), "no label leads from 'a' to 'z'; it may lead to 'a', 'b'"),
    (lambda: wrapped(stage_rewards={("a", "c"): moved}), "no label leads from 'a' to 'c'"),
    (lambda: wrapped(stage_rewards={("a",): moved}), r"found the key \('a',\); expected a state, or an edge"),
    (lambda: wrapped(stage_rewards={3: moved}), "found the key 3; expected a state, or an edge"),
    (lambda: wrapped(stage_rewards={"a": 1.0}), "'a' has 1.0; expected a function"),
    (lambda: first_step(wrapped(stage_rewards={"a": lambda *step: "much"})), "'a' returned 'much'; expected a number"),
    (lambda: first_step(wrapped(stage_rewards={"a": lambda *step: np.nan})), "of 'a' returned nan; expected a number"),
    *((lambda m=machine: wrapped(machine=m), "machine=.*; expected a RewardMachine")
      for machine in ("FrozenLake-v1", [], [patterns_machine(), None])),
    *((lambda env=env: MachineWrapper(env, event, patterns_machine()), "env=.*; expected a Gymnasium environment")
      for env in (None, "FrozenLake-v1")),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_makes_no_sense_is_refused_in_few_words(make: Any, message: str) -> None:
    with pytest.raises(PraemiaError, match=message) as caught:
        make()
    assert len(str(caught.value)) < 400  # large observations are cut short


# Environments with habits of their own


class SameArray(gymnasium.Env[Any, Any]):
    """An environment that counts its steps in one array, which it returns every time."""

    observation_space, action_space = Box(0, 255, (1,), np.uint8), Discrete(2)

    def __init__(self) -> None:
        self.own = np.zeros(1, np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.own[:] = 0
        return self.own, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.own += 1
        return self.own, 0.0, False, False, {}


def test_labels_see_the_step_of_an_environment_that_overwrites_its_array() -> None:
    steps: list[tuple[int, int]] = []

    def note(o: Any, a: Any, z: Any, info: dict[str, Any]) -> set[str]:
        steps.append((int(o[0]), int(z[0])))
        return set()

    env = MachineWrapper(SameArray(), note, patterns_machine())
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    assert steps == [(0, 1), (1, 2), (2, 3)]
