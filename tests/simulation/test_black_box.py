"""Learning in environments whose kernel is hidden: the same counts, the same learners, returns and no regret."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.wrappers import TimeLimit
from hidden_tasks import hide
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Wanderer, Watched, between_episodes
from oracles import label_of
from places import Places
from strategies import tasks

from praemia import BlackBox, PraemiaError, Run, envs, evaluate, explore, learners, rollout, simulate, solve
from praemia.errors import EnvironmentFailure, ModelError, ParameterError
from praemia.learners.experience import Experience, Recent
from praemia.machines.builder import MachineBuilder
from praemia.tasks.task import Task

LEARNERS = [name for name in learners.names() if not learners.kind_of(name).privileged]
FROM_COUNTS = ["ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler", "psrl"]


def walk(place: int, action: int, rng: np.random.Generator) -> tuple[int, bool, dict[str, Any]]:
    """Walk from 0 to 3, where it ends; whether 3 is the goal is told in ``info``, when a coin says so."""
    after = max(0, place + (1 if action == 1 else -1))
    return after, after == 3, {"open": after == 3 and bool(rng.random() < 0.5)}


class Corridor(Places):
    """The walk as an environment."""

    def __init__(self) -> None:
        super().__init__(4, walk)


def reach(proposition: str, reward: float = 1.0) -> Any:
    return MachineBuilder("away").edge("away", proposition, "there", reward=reward).build()


# Learning


@pytest.mark.parametrize("name", [*FROM_COUNTS, "q-learning", "crm"])
def test_learners_find_a_good_policy_in_a_hidden_task(name: str) -> None:
    task = envs.make("warehouse-2", horizon=6)
    run = simulate(hide(task), learners.make(name), 400, 1)
    random = simulate(task, learners.make("random"), 1).plan_values[0]
    assert evaluate(task, run.final_policy).value > (0.9 * solve(task).value if name in FROM_COUNTS else random)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in ("q-learning", "crm")])
def test_returns_have_the_mean_of_the_policies_that_were_played(name: str) -> None:
    """The exact values of all policies played are known here: within 4 standard errors, error level 10⁻⁴."""
    task = envs.make("riverswim-prm-4", horizon=8)
    watched = Watched(between_episodes(learners.make(name)))
    run = simulate(hide(task), watched, 300, 2)
    inner = [p.swapaxes(1, 2).reshape(8, 4, 2, *p.shape[3:]) for p in watched.policies]
    shown = [p.swapaxes(1, 2) for p in inner]
    values = np.repeat([evaluate(task, p).value for p in shown], np.diff([*run.plan_episodes, 300]))
    off = run.returns - values
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(300)


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_frozen_lake_is_learned_though_its_episodes_end_early(name: str) -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    box = BlackBox(env, lambda o, a, z, info: {"goal"} if z == 15 else set(), reach("goal"), 12)
    run = simulate(box, learners.make(name), 400, 1)
    assert run.returns[-50:].mean() > 0.5
    assert run.returns.max() == 1.0
    assert run.final_policy.shape[:3] == (12, 2, 16)


@pytest.mark.filterwarnings("ignore:.*was labelled:praemia.errors.PraemiaWarning")
@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "euler", "q-learning", "crm"])
def test_labels_may_depend_on_info(name: str) -> None:
    box = BlackBox(Corridor(), lambda o, a, z, info: {"open"} if info["open"] else (), reach("open"), 5)
    run = simulate(box, learners.make(name), 300, 3)
    # The goal is open half the time: 0.5 is the best mean, 4 standard errors of 200 coins are 0.14.
    assert 0.2 < run.returns[100:].mean() < 0.5 + 0.15


def test_an_episode_that_is_cut_off_is_played_no_further() -> None:
    box = BlackBox(TimeLimit(Corridor(), 2), lambda o, a, z, info: (), reach("open"), 5)
    watched = Watched(Wanderer())
    simulate(box, watched, 11, 1)
    assert watched.shown[-1].visits.sum() == 10 * 2
    assert watched.shown[-1].step_visits.sum(axis=1).tolist() == [10, 10, 10, 0, 0, 0]


def test_an_ended_episode_is_counted_no_further() -> None:
    box = BlackBox(Corridor(), lambda o, a, z, info: {"open"} if z == 3 else (), reach("open"), 5)
    watched = Watched(Wanderer())
    simulate(box, watched, 41, 1)
    steps, seen = watched.shown[-1].step_visits, watched.shown[-1].transitions
    assert steps.shape[1] == 4
    assert steps[:, 3].sum() == watched.shown[-1].visits[3].sum() == 0  # nothing is done where episodes end
    assert seen.ends.tolist() == (seen.successors == 3).tolist()
    assert steps[5].sum() + seen.counts[seen.ends].sum() == 40  # an episode lasts to the horizon, or it ends
    assert np.all(np.diff(steps.sum(axis=1)) <= 0)


# Counting


@pytest.mark.parametrize("on_product", [False, True])
@settings(max_examples=25)
@given(task=tasks().map(lambda task: task.in_unit_range), seed=st.integers(0, 2**32))
def test_what_is_counted_is_what_happened(on_product: bool, task: Task, seed: int) -> None:
    """The environment notes its moves, a learner the steps that it is told of; both are counted by hand."""
    box, player = hide(task), Watched(Recorded(Wanderer(sees="product" if on_product else "observations")))
    simulate(box, player, 9, seed)
    told = [tuple(step) for recent in player.learner.episodes for step in recent.steps.tolist()]
    if on_product:
        told = [(s // M, a, t // M, 0, s % M, t % M) for M in [task.num_machine_states] for s, a, t, *_ in told]
    assert [step[:3] for step in told] == box.env.moves[: len(told)]
    assert len(told) == 8 * task.horizon
    expected: Counter[Any] = Counter()
    steps = np.zeros_like(player.shown[-1].step_visits)
    for i, (o, a, z, _, m, m_next) in enumerate(told):
        laws = law_of(task, label_of(task.mdp.labelling.rules, o, a, z))
        source, successor = (o, z) if not on_product else (o * len(laws) + m, z * len(laws) + m_next)
        if on_product:
            laws = (tuple((0, 1.0, reward) for target, _, reward in laws[m] if target == m_next),)
        expected[source * task.num_actions + a, successor, laws] += 1
        steps[i % task.horizon, source] += 1
        if i % task.horizon == task.horizon - 1:
            steps[task.horizon, successor] += 1
    assert meaning(player.shown[-1]) == expected
    np.testing.assert_array_equal(player.shown[-1].step_visits, steps)


def law_of(task: Task, label: frozenset[str]) -> Any:
    """Return the (target, probability, mean reward) of every machine state on a label."""
    machine = task.machine
    return tuple(
        tuple((machine.states.index(out.target), out.probability, out.reward.mean) for out in outcomes)
        for outcomes in (machine.outcomes(state, label) for state in machine.states)
    )


class Recorded:
    """A learner that keeps the steps of every episode but the last."""

    uses_recent = True

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.episodes: list[Recent] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def plan(self, experience: Any, previous: Any, rng: Any) -> Any:
        if experience.recent is not None:
            self.episodes.append(Recent(experience.recent.steps.copy(), experience.recent.rewards.copy()))
        return self.learner.plan(experience, previous, rng)


def meaning(shown: Experience) -> Counter[Any]:
    """Return how often each pair was followed by each successor under each label: where it leads and what it pays."""
    found: Counter[Any] = Counter()
    table, seen = shown.spec.table, shown.transitions

    def law(label: int) -> Any:
        rows = range(label * table.num_states, (label + 1) * table.num_states)
        edges = [range(table.indptr[row], table.indptr[row + 1]) for row in rows]
        return tuple(tuple((int(table.targets[j]), table.probs[j], table.rewards[j]) for j in row) for row in edges)

    pairs = seen.observations * shown.spec.num_actions + seen.actions
    columns = (pairs.tolist(), seen.successors.tolist(), seen.labels.tolist(), seen.counts.tolist())
    for pair, z, label, count in zip(*columns, strict=True):
        found[pair, z, law(label)] += count
    return found


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucrl2-rm-l"])
def test_plans_are_made_when_they_are_due(name: str) -> None:
    for rule in ("doubling", "epoch", "growth", "episode"):
        box = hide(envs.make("riverswim-3", horizon=4))
        run = simulate(box, learners.make(name, replan=rule), 60, 1)
        moves = box.env.moves[-240:]
        assert run.plan_episodes.tolist() == due_episodes([moves[k : k + 4] for k in range(0, 240, 4)], rule)


def due_episodes(episodes: list[Any], rule: str) -> list[int]:
    """Return the episodes before which a plan is made, from the moves (o, a, o') of all of them."""
    visits: Counter[Any] = Counter()
    due, plans, before = True, [], Counter(visits)
    for number, moves in enumerate(episodes):
        if due:
            plans.append(number)
            before = visits.copy()
        due = rule == "episode"
        for o, a, _ in moves:
            visits[o, a] += 1
            doubled = visits[o, a] & (visits[o, a] - 1) == 0
            due |= doubled if rule == "doubling" else visits[o, a] - before[o, a] >= max(1, before[o, a])
        due |= rule == "growth" and 20 * (number + 1 - plans[-1]) >= plans[-1]
    return plans


# Records and errors


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_seed_gives_the_same_run(name: str) -> None:
    task, learner = envs.make("riverswim-prm-3", horizon=6), learners.make(name)
    first, again, other = (simulate(hide(task), learner, 50, seed) for seed in (1, 1, 2))
    assert first.returns.tobytes() == again.returns.tobytes()
    assert first.final_policy.tobytes() == again.final_policy.tobytes()
    assert first.plan_episodes.tobytes() == again.plan_episodes.tobytes()
    assert first.returns.tobytes() != other.returns.tobytes()


def test_an_environment_used_before_gives_the_same_run_as_a_new_one() -> None:
    task, learner = envs.make("riverswim-prm-3", horizon=6), learners.make("ucbvi-prm")
    box = hide(task)
    simulate(box, learner, 20, 9)
    assert np.array_equal(simulate(box, learner, 50, 1).returns, simulate(hide(task), learner, 50, 1).returns)


def test_regret_is_refused_and_returns_are_shown() -> None:
    run = simulate(hide(envs.make("riverswim-3")), learners.make("random"), 20)
    assert run.optimal_value is None
    with pytest.raises(PraemiaError, match=r"not known.*black box.*returns"):
        _ = run.regret
    assert "mean return" in repr(run)
    assert np.isnan(run.plan_values).all()


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, [1, 2, 3, 4, 5, 6, 7]), (1e9, [7])])
def test_progress_is_told_after_every_slice(
    monkeypatch: pytest.MonkeyPatch, seconds: float, expected: list[int]
) -> None:
    for module in ("loop", "box_world"):
        monkeypatch.setattr(f"praemia.simulation.{module}.SLICE_SECONDS", seconds)
    told: list[int] = []
    simulate(hide(envs.make("riverswim-3")), learners.make("random", replan="episode"), 7, on_progress=told.append)
    assert told == expected


def test_the_optimal_player_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"'optimal' needs the transition model"):
        simulate(hide(envs.make("riverswim-3")), learners.make("optimal"), 5)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (None, r"the label of \(0, .* is None; expected a set"),
        ({1}, r"the label of \(0, .* is \{1\}; expected a set"),
        ({"opne"}, r"proposition 'opne', which is not one of the machine's \(did you mean 'open'\?\)"),
    ],
)
@pytest.mark.parametrize("name", ["ucbvi-prm", "ucrl2-rm-l"])
def test_a_label_that_makes_no_sense_is_refused(name: str, label: Any, message: str) -> None:
    box = BlackBox(Corridor(), lambda o, a, z, info: label, reach("open"), 5)
    with pytest.raises(ModelError, match=message):
        simulate(box, learners.make(name), 5)


def test_an_observation_outside_the_space_is_refused() -> None:
    env = Corridor()
    env.observation_space = Discrete(2)
    box = BlackBox(env, lambda o, a, z, info: (), reach("open"), 5)
    with pytest.raises(ModelError, match=r"found 2, outside the space Discrete\(2\)"):
        simulate(box, learners.make("random"), 50)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, 10**9])
def test_a_horizon_that_makes_no_sense_is_refused(horizon: Any) -> None:
    with pytest.raises(ModelError, match=r"^horizon"):
        BlackBox(Corridor(), lambda o, a, z, info: (), reach("open"), horizon)


def test_labels_must_be_a_function() -> None:
    with pytest.raises(ModelError, match=r"labels=.*expected a function"):
        BlackBox(Corridor(), {"open"}, reach("open"), 5)  # type: ignore[arg-type]


# Errors in the middle of a run


class Failing(Corridor):
    """The corridor, which fails in a given step of all."""

    def __init__(self, when: int, problem: Any) -> None:
        super().__init__()
        self.left, self.problem = when, problem

    def step(self, action: int) -> Any:
        self.left -= 1
        if self.left < 0:
            return self.problem()
        return super().step(action)


def broken() -> Any:
    raise RuntimeError("the cable came off")


@pytest.mark.parametrize("name", ["headroom", "ucbvi", "q-learning", "random"])
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (broken, r"'Failing' failed in episode [0-9]+, from 0: RuntimeError: the cable came off"),
        (lambda: (np.nan, 0.0, False, False, {}), "nan"),
    ],
)
def test_an_error_of_the_environment_keeps_what_was_played(name: str, problem: Any, message: str) -> None:
    """The episodes, the data and the policy are those of the same run without the error, as far as it came."""

    def box(when: int) -> BlackBox:
        return BlackBox(
            TimeLimit(Failing(when, problem), 7), lambda o, a, z, info: {"goal"} if z == 3 else (), reach("goal"), 9
        )

    with pytest.raises(PraemiaError, match=message) as failed:
        simulate(box(460), name, 500)  # up to 200 steps play before the run
    run = failed.value.run
    whole = simulate(box(10**9), name, 500)
    assert 20 < run.num_episodes < 500
    np.testing.assert_array_equal(run.returns, whole.returns[: run.num_episodes])
    np.testing.assert_array_equal(run.steps, whole.steps[: run.num_episodes])
    assert run.plan_episodes.tolist() == [k for k in whole.plan_episodes.tolist() if k < run.num_episodes]
    assert Run.from_bytes(run.to_bytes(), "run").num_episodes == run.num_episodes
    assert run.policy.act(0, 0, 0, np.random.default_rng(0)) in (0, 1)
    if name != "ucbvi":
        unfinished = run.dataset.num_transitions - run.steps.sum()
        assert 0 <= unfinished < 7
        assert simulate(box(10**9), "headroom", 5, data=run.dataset).data_episodes == run.dataset.num_episodes


def test_an_error_in_the_first_episode_leaves_no_run() -> None:
    box = BlackBox(Failing(0, broken), lambda o, a, z, info: (), reach("goal"), 9)
    with pytest.raises(PraemiaError, match="in episode 0, from 0: RuntimeError") as failed:
        simulate(box, "headroom", 5)
    assert failed.value.run is None
    assert isinstance(failed.value.__cause__, RuntimeError)


class Fragile(Corridor):
    """The corridor, one of whose methods raises an error once ``fails`` is its name."""

    render_mode = "rgb_array"
    fails = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return broken() if self.fails == "reset" else super().reset(seed=seed, options=options)

    def step(self, action: int) -> Any:
        return broken() if self.fails == "step" else super().step(action)

    def render(self) -> Any:
        return broken() if self.fails == "render" else np.zeros((4, 4, 3), np.uint8)


@pytest.mark.parametrize(
    ("fails", "uses"),
    [("reset", "simulate explore evaluate rollout"), ("step", "evaluate rollout"), ("render", "rollout")],
)
def test_an_environment_that_fails_is_named_wherever_it_is_played(fails: str, uses: str) -> None:
    env = Fragile()
    box = BlackBox(env, lambda o, a, z, info: {"goal"} if z == 3 else (), reach("goal"), 9)
    policy = simulate(box, "headroom", 3).policy
    env.fails = fails
    played = {
        "simulate": lambda: simulate(box, "headroom", 3),
        "explore": lambda: explore(box, num_episodes=3),
        "evaluate": lambda: evaluate(box, policy, num_episodes=2),
        "rollout": lambda: rollout(box, policy),
    }
    for name in uses.split():
        with pytest.raises(EnvironmentFailure, match=r"'Fragile' failed.*: RuntimeError: the cable came off"):
            played[name]()


def test_an_ending_that_is_neither_true_nor_false_is_the_environments_failure() -> None:
    class Vague(Corridor):
        def step(self, action: int) -> Any:
            return 1, 0.0, np.array([False, True]), False, {}

    box = BlackBox(Vague(), lambda o, a, z, info: (), reach("goal"), 9)
    with pytest.raises(EnvironmentFailure, match="'Vague' failed in episode 0"):
        simulate(box, "headroom", 3)
    with pytest.raises(EnvironmentFailure, match="'Vague' failed: ValueError"):
        evaluate(box, np.zeros((9, 2, 4), dtype=np.int64), num_episodes=1)
