"""Pictures of tasks: what they show, whose they are, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import praemia
from praemia import envs
from praemia.envs.gymnasium_env import TaskEnv
from praemia.errors import SizeError
from praemia.experiments.jobs import TaskText
from praemia.files.writing import dump
from praemia.pictures.policy_page import MOVES, PolicyView, panel
from praemia.pictures.renderers import render_svg
from praemia.pictures.scene import Line, Text, text_width
from praemia.pictures.task_picture import page_scene, task_picture
from praemia.pictures.text_map import page_text, text_map
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Axis, Mark, Picture, Spot
from praemia.tasks.task import Task


def roles(task: Task) -> dict[str, str]:
    """The colour of every symbol in a task's picture."""
    return {spot.mark.symbol: spot.mark.role for spot in task_picture(task).spots if spot.mark}


def test_a_grid_is_drawn_cell_by_cell() -> None:
    assert str(envs.make("warehouse-2").draw()).splitlines()[2:7] == [
        "+---+---+",
        "| S   I |",
        "+       +",
        "| .   D |",
        "+---+---+",
    ]


def test_the_office_in_text_has_the_walls_of_its_map() -> None:
    from praemia.envs.office import MAP

    rows = [line for line in MAP.split() if "." in line]
    lines = [line for line in str(envs.make("office").draw()).splitlines() if line.startswith("| ")]
    for line, row in zip(lines, rows, strict=True):
        assert line[2::4] == row.replace("|", "").replace("+", "")
        between = line[4:-1:4]  # what stands right of each cell but the last
        assert [between[c] for c in (2, 5, 8)] == [" " if row[c] == "+" else "|" for c in (3, 7, 11)]
        assert set(between[:2] + between[3:5] + between[6:8] + between[9:]) == {" "}


def test_the_legend_says_what_the_machine_does() -> None:
    assert "right end: reward 1 with probability 0.8" in str(envs.make("riverswim-prm-5").draw())
    assert "right end: reward 1\n" in str(envs.make("riverswim-5").draw())
    assert "plant: no reward afterwards" in str(envs.make("office-mail").draw())
    assert roles(envs.office("mail")) == {
        **dict.fromkeys("ABCDc", "plain"),
        "S": "start",
        "m": "waypoint",
        "o": "goal",
        "*": "danger",
    }
    assert roles(envs.office("patrol")) | {"S": "start"} == {
        **dict.fromkeys("moc", "plain"),
        **dict.fromkeys("ABC", "waypoint"),
        "S": "start",
        "D": "goal",
        "*": "danger",
    }


def test_another_machine_or_horizon_keeps_the_map_and_changes_the_effects_of_places() -> None:
    swapped = praemia.MachineBuilder("out", ("item", "delivery")).edge("out", "item", "done", reward=2).build()
    task = envs.warehouse(3).with_horizon(50).with_machine(swapped)
    assert str(task.draw()).splitlines()[2:9] == str(envs.make("warehouse-3").draw()).splitlines()[2:9]
    assert "I  item: reward 2" in str(task.draw())
    costly = praemia.MachineBuilder("out", ("item", "delivery"))  # where each step costs, no place is a danger
    costly.edge("out", "item", "done", reward=1).edge("out", "!item", "out", reward=-0.1)
    for machine in (swapped, costly.build()):
        assert roles(envs.warehouse(3).with_machine(machine)) == {"S": "start", "I": "goal", "D": "plain"}


def test_in_text_walls_are_lines_blocks_are_solid_and_brackets_show_where_the_agent_is() -> None:
    picture = task_picture(envs.make("warehouse-2"))
    assert "[I]" in page_text(picture, "", here=1)
    assert "[.]" in page_text(picture, "", here=2)
    picture = Picture(
        (Spot(1.5, 0.5), Spot(1.5, 1.5)), blocks=((0.5, 0.5),), walls=((1.0, 0.0, 2.0, 0.0), (2.0, 0.0, 2.0, 1.0))
    )
    assert text_map(picture, ["abc", "d"]) == ["▒▒▒▒+---+", "▒▒▒▒▒abc|", "▒▒▒▒▒   +", "      d"]


@pytest.mark.parametrize("symbol", ["x", "pallet", "a-pallet-of-boxes"])
def test_a_mark_of_many_letters_has_a_cell_of_its_width(symbol: str) -> None:
    task = envs.warehouse(2)
    picture = task_picture(task)
    spots = [spot._replace(mark=spot.mark._replace(symbol=symbol)) if spot.mark else spot for spot in picture.spots]
    drawing = Task(task.mdp.with_map(replace(picture, spots=tuple(spots))), task.machine, 3).draw()
    lines = str(drawing).splitlines()[2:7]
    assert lines[1].count(symbol[:12]) == 2
    assert len({*map(len, lines)}) == 1  # the walls are straight
    marks = [item for item in drawing.scene.items if isinstance(item, Text) and item.text == symbol]
    assert all(text_width(symbol, item.size, bold=True) < 46.0 for item in marks)  # a cell has 46 pixels


@pytest.mark.parametrize("name", ["warehouse-3", "warehouse-99999", "rooms-8", "riverswim-6", "flower-20", "\0<"])
def test_a_task_that_bears_a_built_in_name_by_chance_is_drawn_as_itself(name: str) -> None:
    rows = {(o, 0): {(o + 1) % 6: 1.0} for o in range(6)}
    impostor = Task(LabeledMDP.from_rows(6, 1, rows), envs.warehouse(2).machine, 5, name)
    picture = task_picture(impostor)
    assert [spot.mark and spot.mark.symbol for spot in picture.spots] == [*"012345"]
    assert picture.links == tuple(sorted((min(o, (o + 1) % 6), max(o, (o + 1) % 6)) for o in range(6)))
    assert "petal" not in str(impostor.draw())
    assert ElementTree.fromstring(impostor.draw().svg) is not None


def test_labels_of_ones_own_mdp_are_marked() -> None:
    rows = {(o, 0): {(o + 1) % 3: 1.0} for o in range(3)}
    rules = [praemia.LabelRule("goal", target=2), praemia.LabelRule("odd", target=1), praemia.LabelRule("a", source=1)]
    machine = praemia.MachineBuilder("out", ("goal", "odd", "a")).edge("out", "goal", "out", reward=0.5).build()
    task = Task(LabeledMDP.from_rows(3, 1, rows, labels=rules), machine, 4)
    assert roles(task) == {"0": "start", "1": "plain", "2": "goal"}
    assert "2  a, goal: reward 0.5" in str(task.draw())


def test_any_mdp_can_be_given_a_map() -> None:
    marks = [Mark("a"), Mark("b"), Mark("c", label=frozenset({"goal"}))]
    row = Picture(tuple(Spot(o + 0.5, 0.5, mark) for o, mark in enumerate(marks)))
    rows = {(o, 0): {min(o + 1, 2): 1.0} for o in range(3)}
    mdp = LabeledMDP.from_rows(3, 1, rows, labels=[praemia.LabelRule("goal", target=2)])
    machine = praemia.MachineBuilder("out").edge("out", "goal", "out", reward=0.5).build()
    task = Task(mdp.with_map(row), machine, 4)
    assert "a   b   c" in str(task.draw())
    assert "c  reward 0.5" in str(task.draw())
    assert mdp.map is None
    assert praemia.solve(task).value == praemia.solve(Task(mdp, machine, 4)).value


def test_cells_of_two_numbers_are_a_map_with_axes_and_actions_never_tried_are_hatched() -> None:
    task = envs.riverswim(3)
    axes = Axis("position (m)", (-1.2, -0.3, 0.6)), Axis("velocity", (0.0, 0.02, 0.05, 0.07))
    picture = Picture((Spot(0.5, 2.5), Spot(1.5, 2.5), Spot(1.5, 0.5)), actions=("left", "right"), axes=axes)
    task = Task(task.mdp.with_map(picture), task.machine, 10)
    texts = [item.text for item in task.draw().scene.items if isinstance(item, Text)]
    assert {"position (m) →", "↑ velocity", "-1.2", "-0.3", "0.6", "0", "0.02", "0.05", "0.07"} <= {*texts}
    view = PolicyView.of(task)
    hatched = replace(view, untried=view.visits > 0.0)
    for m in view.states:
        lines = [sum(isinstance(item, Line) for item in panel(own, m, 50.0).items) for own in (view, hatched)]
        num_visited = np.count_nonzero(view.visits[m])
        assert lines == [num_visited, 3 * num_visited]  # an arrow, or hatching without one


def test_what_is_too_large_for_a_picture_is_refused() -> None:
    with pytest.raises(SizeError, match="too many for a picture"):
        str(envs.riverswim(10_001).draw())


def test_markup_in_a_title_stays_text() -> None:
    picture = Picture((Spot(0.5, 0.5, Mark("<", "x < y & z", role="goal")),))
    root = ElementTree.fromstring(render_svg(page_scene(picture, '<a & "b">')))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert '<a & "b">' in texts
    assert "x < y & z" in texts


def test_many_observations_are_drawn_in_rows_by_number() -> None:
    task = envs.make("random-100x2x2-0")
    assert str(task.draw()).split()[1:101] == [*map(str, range(100))]


def test_pixels_show_the_agent_in_its_cell() -> None:
    env = TaskEnv(envs.warehouse(2), render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8
    orange = np.argwhere(np.abs(frame.astype(int) - (0xE6, 0x9F, 0x00)).sum(axis=2) < 10)
    height, width, _ = frame.shape
    assert orange.mean(axis=0) == pytest.approx([height / 4, width / 4], abs=3)


def moves_on_map(mdp: LabeledMDP, picture: Picture, action: int) -> set[tuple[float, float]]:
    """Return by how much an action changes the place on a map, where it leads one cell on or nowhere."""
    spots = picture.spots
    sources, actions = np.divmod(mdp.edge_pairs, mdp.num_actions)
    steps = {
        (spots[z].x - spots[o].x, spots[z].y - spots[o].y)
        for o, a, z in zip(sources.tolist(), actions.tolist(), mdp.successors.tolist(), strict=True)
        if a == action and (spots[o].mark or Mark("")).symbol != "C"  # nobody stands on the cliff
    }
    return {step for step in steps if abs(step[0]) + abs(step[1]) <= 1.0}


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "CliffWalking-v1"])
def test_actions_of_gymnasiums_maps_are_the_moves_that_they_make(env_id: str) -> None:
    mdp = envs.from_gymnasium(env_id, [], is_slippery=False)
    assert mdp.map is not None
    picture = mdp.map.picture()
    for action, name in enumerate(picture.actions):
        assert moves_on_map(mdp, picture, action) == {(0.0, 0.0), MOVES[name]}


def test_a_frozen_lake_is_drawn_with_its_holes_also_by_commands_and_reports_which_know_its_text() -> None:
    path = Path(__file__).parents[2] / "examples" / "frozen_lake.yaml"
    task = praemia.load_task(path)
    for text in (TaskText.of(str(path)), TaskText(task.name, dump(task))):
        assert str(text.make().draw()) == str(task.draw())
    lines = str(task.draw()).splitlines()
    assert lines[3] == "| S   .   .   c |"
    assert lines[5] == "| .   H   .   H |"
    assert lines[9] == "| H   .   .   G |"
    assert "  G  goal: reward 1" in lines


def test_places_that_a_machine_asks_for_are_in_the_key_of_a_policy() -> None:
    scene = praemia.show(envs.make("office-patrol")).scene
    texts = [item.text for item in scene.items if isinstance(item, Text)]
    assert {"A", "B", "C", "D", "on the way", "reward 1", "plant: no reward afterwards"} <= {*texts}
    assert "A, B, C  on the way" in str(envs.make("office-patrol").draw())
