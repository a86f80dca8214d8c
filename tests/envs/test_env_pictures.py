"""Pictures: what they show, and when there is none."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from praemia import envs
from praemia.envs.pictures import Mark, Picture, Spot, render_text
from praemia.envs.svg import render_svg
from praemia.errors import SizeError
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.reachability import distances
from praemia.tasks.task import Task


def test_a_grid_is_drawn_cell_by_cell() -> None:
    assert envs.text_picture("warehouse-2").splitlines()[2:7] == [
        "+---+---+",
        "| S   I |",
        "+       +",
        "| .   D |",
        "+---+---+",
    ]


def test_the_office_in_text_has_the_walls_of_its_map() -> None:
    from praemia.envs.office import MAP

    rows = [line for line in MAP.splitlines() if line.startswith("|")]
    drawn = [line for line in envs.text_picture("office").splitlines() if line.startswith("| ")]
    for line, row in zip(drawn, rows, strict=True):
        assert line[2::4].replace("S", "@") == row[1::2]
        assert line[0::4].replace(" ", ".") == row[0::2].replace(" ", ".")


def test_the_probabilistic_patrol_has_a_picture_of_its_own() -> None:
    assert "arriving pays 1 w.p. 0.8" in envs.text_picture("riverswim-prm-5")
    assert "0.8" not in envs.text_picture("riverswim-5")


def test_brackets_show_where_the_agent_is() -> None:
    picture = envs.picture("warehouse-2")
    assert "[I]" in render_text(picture, here=1)
    assert "[.]" in render_text(picture, here=2)


@pytest.mark.parametrize("name", ["warehouse-3", "warehouse-99999", "rooms-8", "riverswim-0", "office-x", "\0<"])
def test_a_task_that_bears_a_built_in_name_by_chance_is_drawn_as_itself(name: str) -> None:
    small = envs.warehouse(2)
    impostor = Task(small.mdp, small.machine, 5, name)
    assert len(envs.picture(impostor).spots) == 4
    assert ElementTree.fromstring(envs.svg_picture(impostor)) is not None


def test_what_is_too_large_for_a_picture_is_refused() -> None:
    with pytest.raises(SizeError, match="too many for a picture"):
        envs.text_picture(envs.riverswim(2_501))


def test_markup_in_a_title_stays_text() -> None:
    picture = Picture('<a & "b">', (Spot(0.5, 0.5, Mark("<", "goal", "x < y & z")),))
    root = ElementTree.fromstring(render_svg(picture))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert '<a & "b">' in texts
    assert "x < y & z" in texts


def test_many_observations_are_drawn_by_their_distance_from_the_start() -> None:
    task = envs.make("random-100x2x2-0")
    text = envs.text_picture(task)
    assert all(f" {o} " in text.replace("\n", " ") for o in range(100))


def test_observations_stand_in_columns_by_their_distance_from_the_start() -> None:
    rows = {(o, 0): {(o + 1) % 30: 1.0} for o in range(30)}
    mdp = LabeledMDP.from_rows(30, 1, rows, start=28)
    task = Task(mdp, envs.warehouse(2).machine, 5)
    spots = envs.picture(task).spots
    order = sorted(range(30), key=lambda o: spots[o].x)
    assert order == [28, 29, *range(28)]
    assert distances(mdp).tolist() == [(o - 28) % 30 for o in range(30)]
