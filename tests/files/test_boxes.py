"""Black boxes as data: a Gymnasium environment, cells and predicates in a task file."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import praemia
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, PraemiaError
from praemia.files.building import parse_task
from praemia.files.lint import lint
from praemia.files.load_save import load_task, save_task

BINS = "  observations: {position: 12, velocity: [-0.01, 0.0, 0.01]}\n"
LABELS = "labels:\n  left: position < -1.0\n  flag: 'position >= 0.5'\n"
CAR = f"""\
gymnasium:
  id: MountainCar-v0
{BINS}{LABELS}\
machine: {{ltlf: "F(left & F flag)", chance: {{left: 0.8}}}}
horizon: 200
until_done: true
"""


class Corridor(gymnasium.Env):
    """Five cells in a row, shown as a Box without bounds, as a Dict, or by the index."""

    def __init__(self, shows: str = "index", render_mode: str | None = None) -> None:
        unbounded, cell = gymnasium.spaces.Box(-np.inf, np.inf, (1,)), gymnasium.spaces.Discrete(5)
        kinds = {"index": cell, "box": unbounded, "dict": gymnasium.spaces.Dict({"cell": cell})}
        self.shows, self.observation_space = shows, kinds[shows]
        self.action_space = gymnasium.spaces.Discrete(2)

    def _show(self):
        shown = {"index": self.cell, "box": np.array([self.cell], np.float32), "dict": {"cell": self.cell}}
        return shown[self.shows]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return self._show(), {}

    def step(self, action):
        self.cell = min(4, max(0, self.cell + 2 * action - 1))
        return self._show(), 0.0, False, False, {"said": ["end"] if self.cell == 4 else []}


@pytest.fixture(autouse=True, scope="module")
def corridor():
    gymnasium.register("Corridor-v0", Corridor)
    yield
    del gymnasium.registry["Corridor-v0"]


def loaded(folder: Path, text: str, **options) -> BlackBox:
    (folder / "box.yaml").write_text(text, encoding="utf-8")
    box = load_task(folder / "box.yaml", **options)
    assert isinstance(box, BlackBox)
    return box


def corridor_text(shows: str, labels: str, more: str = "") -> str:
    world = f"gymnasium: {{id: Corridor-v0, options: {{shows: {shows}}}{more}}}"
    return f"{world}\nlabels: {labels}\nmachine: {{ltlf: F end, propositions: [end]}}\nhorizon: 6\n"


def test_a_file_says_the_environment_the_cells_the_labels_and_the_machine(tmp_path: Path) -> None:
    box = loaded(tmp_path, CAR)
    assert (box.name, box.num_observations, box.num_actions, box.horizon, box.until_done) == ("box", 48, 3, 200, True)
    assert box.machine == praemia.RewardMachine.from_ltlf("F(left & F flag)").with_chance({"left": 0.8})
    assert box.label([-0.5, 0.0], 0, [-1.1, 0.0], {}) == {"left"}
    assert box.env.render_mode == "rgb_array"
    same = praemia.BlackBox(
        gymnasium.make("MountainCar-v0"),
        praemia.labels.predicates({"left": "position < -1", "flag": "position >= .5"}, ["position", "velocity"]),
        box.machine,
        200,
        encode=praemia.envs.cells(box.env.observation_space, [12, [-0.01, 0.0, 0.01]]),
        until_done=True,
    )
    ours, theirs = (praemia.simulate(each, "ucbvi-prm", 3, seed=4) for each in (box, same))
    assert ours.returns.tolist() == theirs.returns.tolist()
    assert ours.steps.tolist() == theirs.steps.tolist()


@pytest.mark.parametrize(
    "text",
    [
        CAR,
        corridor_text("index", "{end: observation == 4}"),
        corridor_text("dict", "{end: cell == 4 and before.cell < 4}"),
        corridor_text("box", "{end: x > 3.5}", ", observations: {x: [0.5, 1.5, 2.5, 3.5]}"),
        corridor_text("index", "said"),
    ],
    ids=["car", "index", "dict", "box", "info"],
)
@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_a_box_loads_back_as_it_was_saved(tmp_path: Path, text: str, ending: str) -> None:
    box = loaded(tmp_path, text).with_discount(0.9)
    save_task(box, tmp_path / f"again.{ending}")
    again = load_task(tmp_path / f"again.{ending}")
    assert isinstance(again, BlackBox)
    assert (again.labels, again.machine, again.horizon, again.discount) == (box.labels, box.machine, box.horizon, 0.9)
    assert (again.env.spec.kwargs, again.sizes) == (box.env.spec.kwargs, box.sizes)
    first, second = (praemia.simulate(each, "ucbvi-prm", 20, seed=1) for each in (box, again))
    assert first.returns.tolist() == second.returns.tolist()


@pytest.mark.parametrize(
    ("shows", "more", "message"),
    [
        ("box", ", observations: {x: 3}", "bins[0]=3, and that number has no finite bounds (-inf to inf)"),
        (
            "index",
            ", observations: {x: 3}",
            "the space is Discrete(5); expected a Box, whose numbers are divided into cells",
        ),
        ("box", ", num_observations: 3", "'num_observations' is the limit of the values of 'encode'"),
    ],
)
def test_bins_that_do_not_fit_the_space_are_refused(tmp_path: Path, shows: str, more: str, message: str) -> None:
    with pytest.raises(PraemiaError) as caught:
        loaded(tmp_path, corridor_text(shows, "{end: observation == 4}", more))
    assert message in str(caught.value)


def test_code_is_executed_where_it_is_allowed_and_found_again(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def encode(o): return ('at', int(o[0]))\ndef labels(o, a, o_next, info): return info['said']\n"
    )
    text = corridor_text("box", "own.py:labels", ", encode: 'own.py:encode', num_observations: 5")
    box = loaded(tmp_path, text, allow_code=True)
    assert praemia.simulate(box, "ucbvi-prm", 300).returns[-50:].mean() > 0.9
    save_task(box, tmp_path / "again.yaml")
    with pytest.raises(PraemiaError, match="names code; a file executes code only where you allow it"):
        load_task(tmp_path / "again.yaml")
    again = load_task(tmp_path / "again.yaml", allow_code=True)
    assert again.observations.number(np.array([3.0])) == 0
    for old, new, message in (
        ("own.py:labels", "own.py:label", r"own\.py has no function 'label' \(did you mean 'labels'\?\)"),
        ("own.py:labels", "absent.py:labels", r"absent\.py: cannot be read"),
        ("own.py:labels", "absent_module:labels", "absent_module cannot be imported: ModuleNotFoundError"),
    ):
        with pytest.raises(PraemiaError, match=message):
            loaded(tmp_path, text.replace(old, new), allow_code=True)


def test_what_is_code_in_python_cannot_be_written(tmp_path: Path) -> None:
    machine, env = praemia.RewardMachine.from_ltlf("F end"), gymnasium.make("Corridor-v0")
    box = praemia.BlackBox(env, lambda o, a, o_next, info: info["said"], machine, 6)
    with pytest.raises(ModelError, match=r"box\.yaml: .* is code; a file holds predicates"):
        save_task(box, tmp_path / "box.yaml")
    with pytest.raises(ModelError, match=r"box\.drn: a product needs a transition model"):
        save_task(box, tmp_path / "box.drn")
    with pytest.raises(ModelError, match=r"was not made by gymnasium\.make"):
        save_task(praemia.BlackBox(Corridor(), "said", machine, 6), tmp_path / "box.yaml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wrap", "culprit"),
    [
        (
            lambda env: gymnasium.wrappers.RescaleObservation(env, np.float32(0.0), np.float32(1.0)),
            "RescaleObservation",
        ),
        (gymnasium.wrappers.TimeAwareObservation, "TimeAwareObservation"),
        (lambda env: gymnasium.wrappers.TimeLimit(env, 400), "a second TimeLimit"),
    ],
)
def test_a_wrapper_is_never_left_out_of_a_file(tmp_path: Path, wrap, culprit: str) -> None:
    env = wrap(gymnasium.make("MountainCar-v0"))
    box = praemia.BlackBox(env, "said", praemia.RewardMachine.from_ltlf("F a"), 9, encode=len, num_observations=2)
    with pytest.raises(ModelError, match=rf"MountainCar-v0 is wrapped in {culprit}, and a file has no wrappers"):
        save_task(box, tmp_path / "box.yaml")


@pytest.mark.parametrize(
    ("options", "steps"), [({"max_episode_steps": 40}, 40), ({"max_episode_steps": -1}, 250), ({}, 200)]
)
def test_arguments_of_make_are_kept_whoever_made_the_environment(
    tmp_path: Path, options: dict[str, int], steps: int
) -> None:
    text = CAR.replace("  observations", f"  options: {options}\n  observations").replace("200", "250")
    box = loaded(tmp_path, text)
    env = gymnasium.make("MountainCar-v0", **options)
    encode = praemia.envs.cells(env.observation_space, [12, [-0.01, 0.0, 0.01]])
    for each in (box, praemia.BlackBox(env, box.labels, box.machine, 250, encode=encode)):
        save_task(each, tmp_path / "again.yaml")
        assert praemia.simulate(load_task(tmp_path / "again.yaml"), "random", 1).steps.tolist() == [steps]


def test_a_stored_text_makes_no_black_box() -> None:
    with pytest.raises(PraemiaError, match="a stored task opens no files"):
        parse_task(CAR, "stored")


def test_the_machine_of_a_box_is_checked(tmp_path: Path) -> None:
    assert [finding.message for finding in lint(loaded(tmp_path, CAR))] == [
        "from machine state 'done' on, no reward can be earned"
    ]
    assert praemia.load_machine(tmp_path / "box.yaml").num_states == 3
