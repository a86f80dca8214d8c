"""Policies act in the environment's own terms, here and in another process, and never on another's indices."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from line_walks import HORIZON, LAST, Line, arrival

import praemia
from praemia import BlackBox, MachineWrapper, Policy, Run, envs, simulate
from praemia.envs.indexing import EncodedIndex, _tagged, _untagged
from praemia.errors import FileError, ModelError, ParameterError


def encoded(encode: Any, **options: Any) -> BlackBox:
    labels = lambda o, a, z, info: {"last"} if z == LAST else ()  # noqa: E731
    return BlackBox(Line(), labels, arrival(), HORIZON, encode=encode, num_observations=LAST + 1, **options)


def walked(policy: Policy, box: BlackBox) -> float:
    """Return whether the policy reaches the last place, by ``act`` alone."""
    place, _ = box.env.reset()
    for step in range(HORIZON):
        place, *_ = box.env.step(policy.act(place, "going", step, unseen=0))
        if place == LAST:
            return 1.0
    return 0.0


class Numbers(gymnasium.Env[Any, Any]):
    """A point of the plane that moves at random, and actions that are not their own indices."""

    def __init__(self, size: int = 2) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (size,), dtype=np.float64)
        self.action_space = spaces.MultiDiscrete([2, 2])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.full(self.observation_space.shape, -0.9), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        return self.observation_space.sample() * 0 + self.np_random.uniform(-1, 0, 2), 0.0, False, False, {}


def in_cells(bins: Any = (4, 4), **options: Any) -> BlackBox:
    env = Numbers()
    cells = envs.cells(env.observation_space, bins, names=["x", "y"], units=["m", "m"])
    labels = praemia.labels.predicates({"last": "observation[0] > -0.2"})
    return BlackBox(env, labels, arrival(), HORIZON, encode=cells, **options)


@pytest.mark.parametrize("encode", [str, lambda o: (o, None, b"x", 0.5, True), int])
def test_a_policy_outlives_later_runs_on_its_box(encode: Any) -> None:
    """Each run has indices of its own, and its policy goes on with them."""
    box = encoded(encode)
    first = simulate(box, "headroom", 30)
    assert walked(first.policy, box) == 1.0
    simulate(box, "random", 30, 1)
    assert walked(first.policy, box) == 1.0
    copied = pickle.loads(pickle.dumps(first)).policy
    with pytest.raises(ModelError, match="load it with the same one"):
        copied.act(0, 0, 0)
    assert walked(copied.for_box(box), box) == 1.0


@pytest.mark.parametrize("size", [0, 2, 4])
def test_what_was_met_has_an_entry_for_each_observation(size: int) -> None:
    with pytest.raises(ModelError, match=f"a policy for 3 observations; its task has {size}"):
        Policy(np.zeros((HORIZON, 2, 3), dtype=np.int64), met=np.zeros(size, dtype=bool))


@pytest.mark.parametrize("action", [2, -1, None, 0.5, "left"])
def test_an_action_for_the_unseen_is_one_of_the_environments(action: Any, tmp_path: Path) -> None:
    simulate(encoded(str), "headroom", 3).policy.save(tmp_path / "policy.npz")
    policy = Policy.load(tmp_path / "policy.npz", encode=lambda o: f"never met: {o}")
    assert policy.act(0, 0, 0, unseen=1) == 1
    with pytest.raises((ModelError, ParameterError), match=r"outside the space|expected an action"):
        policy.act(0, 0, 0, unseen=action)


def test_a_policy_acts_in_another_process(tmp_path: Path) -> None:
    run = simulate(encoded(str), "headroom", 30)
    run.policy.save(tmp_path / "policy.npz")
    program = f"import praemia; p = praemia.Policy.load({str(tmp_path / 'policy.npz')!r}, encode=str)\n"
    program += "print([p.act(o, 'going', h) for h in range(8) for o in range(3)])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert answer.strip() == str([run.policy.act(o, "going", h) for h in range(HORIZON) for o in range(3)])


def test_a_saved_policy_says_what_it_needs(tmp_path: Path) -> None:
    policy = simulate(encoded(str), "headroom", 30).policy
    policy.save(tmp_path / "policy.npz")
    with pytest.raises(ModelError, match=r"learned with encode=.*load it with the same one: Policy.load"):
        Policy.load(tmp_path / "policy.npz").act(0, 0, 0)
    with pytest.raises(ParameterError, match="encode=3; expected the function"):
        Policy.load(tmp_path / "policy.npz", encode=3)  # type: ignore[arg-type]
    Policy(praemia.solve(envs.warehouse(3)), "plain").save(tmp_path / "plain.npz")
    with pytest.raises(ParameterError, match="encode= for a policy that needs none"):
        Policy.load(tmp_path / "plain.npz", encode=str)


@pytest.mark.parametrize("make", [lambda: encoded(str), in_cells, lambda: BlackBox(Line(), {3: "last"}, arrival(), 8)])
def test_a_file_holds_all_that_a_policy_is(make: Any, tmp_path: Path) -> None:
    """Also that of a run: the same actions, machine, names, and observations met."""
    box = make()
    run = simulate(box, "ucbvi-prm", 20)
    run.policy.save(tmp_path / "policy.npz")
    run.save(tmp_path / "run.npz")
    encode = str if box.encode is str else None
    loaded = Policy.load(tmp_path / "policy.npz", encode=encode)
    assert loaded.machine == box.machine
    rng = np.random.default_rng(0)
    for other in (loaded, Run.load(tmp_path / "run.npz").policy):
        assert (other.task, other.action_names) == (run.policy.task, run.policy.action_names)
        np.testing.assert_array_equal(other.table, run.policy.table)
        np.testing.assert_array_equal(other.met, run.policy.met)
        if box.encode is None or other.observations.encode is not None:
            o = 0 if box.encode is None or encode else np.array([-0.5, -0.5])
            np.testing.assert_array_equal(other.act(o, 0, 0, rng), run.policy.act(o, 0, 0, rng))
    if box.encode is not None and encode is None:
        assert loaded.observations.cells == box.encode
        assert (loaded.observations.cells.axes, loaded.observations.cells.units) == (("x", "y"), ("m", "m"))


CODES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@given(CODES)
def test_codes_are_what_they_were(code: Any) -> None:
    import json

    again = _untagged(json.loads(json.dumps(_tagged(code))))
    assert again == code
    assert repr(again) == repr(code)


@pytest.mark.parametrize("code", [frozenset({1}), np.nan, object(), (1, 2j)])
def test_a_code_that_no_file_can_hold_is_named(code: Any, tmp_path: Path) -> None:
    policy = simulate(encoded(lambda o: (o, code)), "random", 3).policy
    with pytest.raises(ModelError, match=f"a {type(code if not isinstance(code, tuple) else 2j).__name__}"):
        policy.save(tmp_path / "policy.npz")
    assert not (tmp_path / "policy.npz").exists()


# What was never met


def test_an_unmet_observation_is_an_error_unless_another_answer_is_given() -> None:
    box = BlackBox(Line(), {3: "last"}, arrival(), HORIZON)
    policy = Policy(np.zeros((HORIZON, 2, 4), dtype=int), box, met=[True, True, False, True])
    with pytest.raises(ModelError, match="the observation 2 was never met while learning; learn for more"):
        policy.act(2, 0, 0)
    assert policy.act(2, 0, 0, unseen=1) == 1
    rng = np.random.default_rng(0)
    assert {policy.act(2, 0, 0, rng, unseen="random") for _ in range(50)} == {0, 1}
    with pytest.raises(ParameterError, match="unseen='best'; expected an action"):
        policy.act(2, 0, 0, unseen="best")
    with pytest.raises(ParameterError, match="give a generator: rng="):
        policy.act(2, 0, 0, unseen="random")
    with pytest.raises(ModelError, match="outside the space"):
        policy.act(4, 0, 0, unseen=1)


@pytest.mark.parametrize("learner", ["headroom", "ucbvi"])
def test_in_a_task_a_learned_policy_acts_wherever_it_is_evaluated(learner: str, tmp_path: Path) -> None:
    """Three episodes leave observations unmet; the table has an action there, which ``rollout`` plays."""
    task = envs.warehouse(size=4)
    policy = simulate(task, learner, 3).policy
    policy.save(tmp_path / "policy.npz")
    for own in (policy, Policy.load(tmp_path / "policy.npz")):
        actions = [
            own.act(o, m, 0, np.random.default_rng(0)) for o in range(16) for m in range(policy.machine.num_states)
        ]
        assert set(actions) <= set(range(task.num_actions))
    played = praemia.rollout(task, policy, seed=3)
    assert [policy.act(s.observation, s.machine_state, s.step) for s in played] == [s.action for s in played]


@given(st.data())
def test_the_nearest_cell_that_was_met_decides(data: st.DataObject) -> None:
    """The sum of index differences, ties to the lowest index, by plain loops."""
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    met = np.array(data.draw(st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])))
    cells = envs.cells(spaces.Box(0.0, 1.0, (2,)), shape)
    policy = Policy(np.arange(met.size)[np.newaxis], observations=EncodedIndex(cells, met.size), met=met)
    for o in range(met.size):
        x, y = divmod(o, shape[1])
        distances = [(abs(x - p // shape[1]) + abs(y - p % shape[1]), p) for p in np.flatnonzero(met)]
        middle = [(x + 0.5) / shape[0], (y + 0.5) / shape[1]]
        assert policy.act(middle, 0, unseen=-1) == (min(distances)[1] if distances else -1)


def test_what_is_not_a_number_is_in_no_cell() -> None:
    policy = simulate(in_cells(), "headroom", 5).policy
    with pytest.raises(ModelError, match="numbers that are not NaN"):
        policy.act([np.nan, 0.0], 0, 0)
    assert policy.act([1e9, -1e9], 0, 0).shape == (2,)  # what lies outside is in the outermost cell


# Steps, states and chance


def test_steps_and_machine_states_are_checked() -> None:
    task = envs.warehouse(3)
    policy = Policy(praemia.solve(task), task)
    assert policy.act(0, "empty", 0) == policy.act(0, task.machine.index["empty"], np.int64(0))
    for wrong in (9, -1, 0.5):
        with pytest.raises(ParameterError, match="expected an integer from 0 to 8"):
            policy.act(0, 0, wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="step is missing"):
        policy.act(0, 0)
    with pytest.raises(ParameterError, match=r"'emty' is not a state of the machine \(did you mean .empty."):
        policy.act(0, "emty", 0)
    with pytest.raises(ParameterError, match="has no machine: give the state's index"):
        Policy(praemia.solve(task)).act(0, "empty", 0)
    with pytest.raises(ParameterError, match="observation"):
        policy.act(9, 0, 0)


def test_a_stationary_policy_needs_no_step() -> None:
    task = envs.warehouse(3).with_discount(0.9).with_horizon(None)
    plan = praemia.solve(task)
    policy = Policy(plan, task)
    assert policy.act(0, 0) == policy.act(0, 0, 10**6) == plan.policy[0, 0]
    assert praemia.evaluate(task, policy).value == pytest.approx(plan.value)
    assert Policy(np.ones((4, 2, 3), dtype=int)).act(2, 1) == 1


def test_a_randomised_policy_samples_by_its_probabilities() -> None:
    policy = Policy(np.array([[[[0.0, 1.0, 0.0]], [[0.2, 0.3, 0.5]]]]))
    rng = np.random.default_rng(3)
    assert policy.act(0, 0, 0, rng) == 1
    sampled = np.bincount([policy.act(0, 1, 0, rng) for _ in range(4_000)], minlength=3) / 4_000
    np.testing.assert_allclose(sampled, [0.2, 0.3, 0.5], atol=0.035)  # more than four standard errors
    with pytest.raises(ParameterError, match="rng="):
        policy.act(0, 0, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: simulate(encoded(str).changed(machine=arrival(2.0)), "random", 2).policy,
            "another machine than that of",
        ),
        (lambda: simulate(in_cells(), "random", 2).policy, "made for 4 actions"),
        (lambda: Policy(np.zeros((HORIZON, 2, 5), dtype=int)), "5 observations; 'Line' has 4"),
        (lambda: Policy(np.zeros((2, 2, 4), dtype=int)), "a policy of 2 steps; 'Line' has 8"),
        (lambda: Policy(np.full((HORIZON, 2, 4), 2)), "made for 3 actions"),
    ],
)
def test_a_policy_of_another_box_is_refused(wrong: Any, message: str) -> None:
    box = BlackBox(Line(), {3: "last"}, arrival(), HORIZON)
    with pytest.raises(ModelError, match=message):
        wrong().for_box(box)


def test_other_cells_are_refused() -> None:
    policy = simulate(in_cells(), "random", 2).policy
    assert policy.for_box(in_cells()).task == "Numbers"
    with pytest.raises(ModelError, match="other cells than 'Numbers'"):
        policy.for_box(in_cells([[-0.5, 0.0, 0.1], 4]))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"observations": {"size": 5}}, "5"),
        ({"machine": "{}"}, "damaged, or not a policy: its machine is not one"),
        ({"observations": {"size": 4, "space": {"box": [1]}}}, "unknown space"),
        ({"observations": {"size": 4, "encode": True, "codes": [[1], [1]]}}, "observations"),
        ({"actions": {"names": [3]}}, "no texts"),
    ],
)
def test_a_damaged_file_is_refused(part: dict[str, Any], message: str, tmp_path: Path) -> None:
    from praemia.policies.policy import FILE

    policy = Policy(np.zeros((HORIZON, 2, 4), dtype=int), BlackBox(Line(), {3: "last"}, arrival(), HORIZON))
    parts = {**policy.as_data(), "table": policy.table, "met": None, **part}
    (tmp_path / "policy.npz").write_bytes(FILE.pack(parts))
    with pytest.raises(FileError, match=message):
        Policy.load(tmp_path / "policy.npz")


# Controllers


def test_a_controller_follows_the_machine() -> None:
    box = encoded(str, until_done=True)
    policy = simulate(box, "headroom", 30).policy
    for controller in (policy.controller(), policy.controller({LAST: "last"})):
        place, _ = box.env.reset()
        while controller.machine_state == box.machine.index["going"]:
            action = 1 if controller.step == 0 else controller.act(place)
            after, _, _, _, info = box.env.step(action)
            controller.observe(place, action, after, info)
            place = after
        assert place == LAST
        assert LAST <= controller.step <= HORIZON
        controller.reset()
        assert controller.step == 0
        controller.observe(0, 1, 1, machine_state="there")
        assert controller.machine_state == box.machine.index["there"]


def test_a_controller_without_labels_says_what_it_needs(tmp_path: Path) -> None:
    simulate(encoded(str), "headroom", 30).policy.save(tmp_path / "policy.npz")
    controller = Policy.load(tmp_path / "policy.npz", encode=str).controller()
    with pytest.raises(ParameterError, match="give labels to policy"):
        controller.observe(0, 1, 1)
    controller.observe(0, 1, 1, {"label": ("last",)})
    assert controller.machine_state == 1
    with pytest.raises(ParameterError, match="follows the machine, which this policy does not have"):
        Policy(np.zeros((1, 1, 1), dtype=int)).controller()


def test_a_chancy_machine_is_sampled_unless_its_state_is_given() -> None:
    machine = arrival().with_chance({"last": 0.25})
    policy = Policy(np.ones((HORIZON, 2, 4), dtype=int), BlackBox(Line(), {3: "last"}, machine, HORIZON))
    moved = 0
    controller = policy.controller()
    for _ in range(2_000):
        controller.reset()
        controller.observe(2, 1, 3)
        moved += controller.machine_state
    assert abs(moved / 2_000 - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2_000)


def test_an_agent_for_machine_wrapper_plays_as_the_policy_does() -> None:
    """One observation at a time, and in batches; the step is the agent's state."""
    policy = simulate(BlackBox(Line(), {3: "last"}, arrival(), HORIZON), "headroom", 30).policy
    controller, wrapped = policy.controller(unseen=0), MachineWrapper(Line(), {3: "last"}, arrival(), HORIZON)
    shown, _ = wrapped.reset(seed=0)
    state: Any = None
    for step in range(HORIZON):
        action, state = controller.predict(shown, state, episode_start=np.array([step == 0]), deterministic=True)
        assert action == policy.act(shown["observation"], int(shown["machine_state"]), step, unseen=0)
        shown, *_ = wrapped.step(int(action))
    batch = {"observation": np.array([0, 2, 1]), "machine_state": np.array([0, 0, 1])}
    actions, state = controller.predict(batch, (np.array([3, 3, 3]),), np.array([False, True, False]))
    assert actions.tolist() == [policy.act(o, m, h, unseen=0) for o, m, h in ((0, 0, 3), (2, 0, 0), (1, 1, 3))]
    assert state[0].tolist() == [4, 1, 4]
