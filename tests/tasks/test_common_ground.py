"""A task and a black box share their base; what needs a transition model says so of a black box."""

import gymnasium
import pytest

import praemia
from praemia.errors import ModelError
from praemia.tasks.base import MAX_HORIZON, BaseTask

MACHINE = praemia.RewardMachine.from_ltlf("F goal")


def black_box(**settings: object) -> praemia.BlackBox:
    return praemia.BlackBox(gymnasium.make("FrozenLake-v1"), {15: "goal"}, MACHINE, **{"horizon": 9, **settings})


def task(**settings: object) -> praemia.Task:
    mdp = praemia.envs.from_gymnasium("FrozenLake-v1", {15: "goal"})
    return praemia.Task(mdp, MACHINE, **{"horizon": 9, "name": "FrozenLake-v1", **settings})


@pytest.mark.parametrize(
    "settings",
    [{}, {"discount": 0.9}, {"until_done": True}, {"horizon": None, "discount": 0.5}, {"name": "lake"}],
)
def test_a_task_and_a_black_box_of_one_environment_have_the_same_sizes(settings: dict[str, object]) -> None:
    first, second = task(**settings), black_box(**settings)
    assert isinstance(first, BaseTask)
    assert isinstance(second, BaseTask)
    for name in ("name", "horizon", "max_steps", "discount", "until_done", "done_states", "machine", "sizes"):
        assert getattr(first, name) == getattr(second, name), name
    assert repr(second) == repr(first).replace("Task(", "BlackBox(")


def test_a_black_box_is_changed_as_a_task_is() -> None:
    box = black_box()
    assert box.done_states == frozenset()  # cached: the changed one has its own
    other = box.with_discount(0.5).with_horizon(None)
    assert (other.max_steps, box.max_steps) == (40, 9)
    assert other.with_until_done().done_states == MACHINE.terminal_states
    run = praemia.simulate(other.with_until_done(), "ucbvi-prm", num_episodes=3)
    assert (run.discount, run.until_done) == (0.5, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": None}, "no horizon, and discount=1; give a horizon"),
        ({"horizon": None, "discount": 1.0 - 1e-6}, "more than 1,000,000 steps count; give a horizon"),
        ({"horizon": 0}, "horizon=0; expected an integer from 1"),
        ({"horizon": MAX_HORIZON + 1}, "from 1 to 1,000,000"),
        ({"horizon": 2.0}, "horizon=2.0; expected an integer"),
        ({"horizon": True}, "horizon=True"),
        ({"horizon": "3"}, "horizon=.3."),
        *(({"discount": wrong}, "discount=.*expected a number above 0 and at most 1")
          for wrong in (0.0, -0.1, 1.5, float("nan"), "0.9", True, None)),
        ({"until_done": 1}, "until_done=1; expected True or False"),
    ],
)  # fmt: skip
def test_settings_are_refused_alike(settings: dict[str, object], message: str) -> None:
    for make in (task, black_box):
        with pytest.raises(ModelError, match=message):
            make(**settings)
        with pytest.raises(ModelError, match=message):
            make().changed(**settings)


@pytest.mark.parametrize(
    "function",
    [
        praemia.solve,
        praemia.product,
        praemia.envs.TaskEnv,
        lambda box: praemia.occupancy(box, None),
    ],
)
def test_what_needs_a_transition_model_says_so_in_one_sentence(function: object) -> None:
    with pytest.raises(ModelError, match=r"needs a transition model, which BlackBox.* does not have; learn in it") as e:
        function(black_box())  # type: ignore[operator]
    assert "\n" not in str(e.value)
