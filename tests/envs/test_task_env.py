"""Tasks as Gymnasium environments: the sampler, the interface, registration."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import gymnasium
import numpy as np
import pytest
from scipy.stats import chi2

from praemia import envs
from praemia.envs.gymnasium_env import TaskEnv
from praemia.errors import ModelError, ParameterError
from praemia.machines.builder import MachineBuilder
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

ERROR_LEVEL = 1e-3  # the probability that a right sampler fails a test here, had its seed not been fixed
STEPS = 20_000


def assert_fits(observed: dict[object, Counter], expected: dict[object, dict[object, float]]) -> None:
    """Test counts by row against probabilities by row: one χ² over all rows that were seen often enough."""
    statistic, freedom = 0.0, 0
    for key, counts in observed.items():
        total, probs = counts.total(), expected[key]
        assert set(counts) <= set(probs), f"{key}: something impossible happened"
        if len(probs) > 1 and total * min(probs.values()) >= 5.0:
            statistic += sum((counts[x] - total * p) ** 2 / (total * p) for x, p in probs.items())
            freedom += len(probs) - 1
    assert freedom > 0
    assert statistic < chi2.isf(ERROR_LEVEL, freedom)


def random_play(task: Task, seed: int) -> list[tuple[int, int, int, int, int, float, tuple[str, ...]]]:
    """Return (o, a, o', m, m', reward, label) of steps with random actions."""
    env = TaskEnv(task)
    state, _ = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    steps = []
    for action in rng.integers(task.num_actions, size=STEPS).tolist():
        after, reward, _, truncated, info = env.step(action)
        assert list(info["label"]) == sorted(info["label"])
        o, m, z, n = (int(s[key]) for s in (state, after) for key in ("observation", "machine_state"))
        steps.append((o, action, z, m, n, reward, info["label"]))
        state = env.reset()[0] if truncated else after
    return steps


@pytest.mark.parametrize("name", ["riverswim-5", "warehouse-3", "flower-2", "random-8x2x3-1"])
def test_steps_follow_the_kernel_and_the_machine(name: str) -> None:
    task = envs.make(name)
    dense, machine = task.mdp.to_dense(), task.machine
    moves, turns, pays = {}, {}, {}
    tau, nu = {}, {}
    for o, a, z, m, n, reward, label in random_play(task, seed=5):
        moves.setdefault((o, a), Counter())[z] += 1
        turns.setdefault((m, label), Counter())[n] += 1
        pays.setdefault((m, label, n), Counter())[reward] += 1
        for out in machine.outcomes(machine.states[m], frozenset(label)):
            target = machine.index[out.target]
            tau.setdefault((m, label), {})[target] = out.probability
            nu[m, label, target] = dict(zip(out.reward.values, out.reward.probabilities, strict=True))
    kernel = {(o, a): {int(z): dense[o, a, z] for z in np.flatnonzero(dense[o, a])} for o, a in moves}
    assert_fits(moves, kernel)
    if not machine.is_deterministic:
        assert_fits(turns, tau)
    if name.startswith("random"):
        assert_fits(pays, nu)
    else:
        assert all(set(counts) <= set(nu[key]) for key, counts in pays.items())


def test_starts_follow_the_start_distribution() -> None:
    mdp = LabeledMDP.from_dense(np.ones((3, 1, 3)) / 3, start={0: 0.2, 2: 0.8})
    env = TaskEnv(Task(mdp, MachineBuilder("q").build(), 2))
    starts = Counter(int(env.reset(seed=3 if k == 0 else None)[0]["observation"]) for k in range(2_000))
    assert_fits({"start": starts}, {"start": {0: 0.2, 2: 0.8}})


def test_text_shows_where_the_agent_is_also_where_a_picture_would_be_too_large() -> None:
    env = gymnasium.make("praemia/Warehouse-v0", size=3, render_mode="ansi")
    env.reset(seed=0)
    text = env.render()
    assert "[S]" in text
    assert "step 0 of 9: observation 0,0, machine state empty" in text
    large = TaskEnv(envs.riverswim(10_001), render_mode="ansi")
    large.reset(seed=0)
    assert large.render() == "step 0 of 20002: observation 0, machine state out\n"


def test_wrong_actions_modes_and_tasks_are_refused() -> None:
    for wrong in (None, "warehouse-4"):
        with pytest.raises(ModelError, match=r"task=.*; expected a Task, such as envs\.make"):
            TaskEnv(wrong)  # type: ignore[arg-type]
    env = TaskEnv(envs.make("riverswim-5"))
    env.reset(seed=0)
    with pytest.raises(ModelError, match="action 2; expected 0 … 1"):
        env.step(2)
    with pytest.raises(ParameterError, match=r"render_mode='human'; expected 'ansi', 'rgb_array'.*HumanRendering"):
        TaskEnv(envs.make("riverswim-5"), render_mode="human")


def test_gymnasium_makes_them_with_parameters() -> None:
    env = gymnasium.make("praemia/Office-v0", errand="mail", horizon=9)
    assert (env.unwrapped.task.name, env.unwrapped.task.horizon) == ("office-mail", 9)
    with pytest.raises(ParameterError, match="size, horizon"):
        gymnasium.make("praemia/Warehouse-v0", sise=4)
    for given, expected in (({}, True), ({"until_done": True}, True), ({"until_done": False}, False)):
        assert gymnasium.make("praemia/OfficeJAIR-v0", task=1, **given).unwrapped.task.until_done is expected
    assert gymnasium.make("praemia/Warehouse-v0").unwrapped.task.until_done is False


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("import gymnasium, praemia; gymnasium.register_envs(praemia)", "praemia/Warehouse-v0"),
        ("import praemia, gymnasium; gymnasium.register_envs(praemia)", "praemia/Warehouse-v0"),
        ("import praemia.envs.gymnasium_env, gymnasium", "praemia/Warehouse-v0"),
        ("import gymnasium", "praemia.envs.gymnasium_env:praemia/Warehouse-v0"),
    ],
)
def test_gymnasium_knows_them_whatever_was_imported_first(imports: str, name: str) -> None:
    code = f"{imports}; gymnasium.make('{name}', size=4).reset(seed=0)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.filterwarnings("ignore:.*human.*:UserWarning")  # that a wrapper is applied
def test_gymnasium_wraps_them_for_windows_and_lists_of_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for mode, frames in (("rgb_array_list", 3), ("human", None)):
        env = gymnasium.make("praemia/Warehouse-v0", size=3, render_mode=mode)
        env.reset(seed=0)
        env.step(1)
        env.step(1)
        rendered = env.render()
        assert (rendered if rendered is None else len(rendered)) == frames
        env.close()


def test_pixels_show_where_the_agent_is() -> None:
    env = TaskEnv(envs.warehouse(size=3), render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.dtype == np.uint8
    assert image.shape[2] == 3
    agent = (np.abs(image.astype(int) - [0xE6, 0x9F, 0x00]).sum(axis=2) < 20).nonzero()
    side = image.shape[0] / 3
    assert agent[0].max() < side  # in the first cell
    assert agent[1].max() < side
    env.step(1)
    place = env._observation
    agent = (np.abs(env.render().astype(int) - [0xE6, 0x9F, 0x00]).sum(axis=2) < 20).nonzero()
    assert (int(agent[0].mean() / side), int(agent[1].mean() / side)) == divmod(place, 3)
