"""Grids from text: kernels written out by hand, labels, one-way cells, rooms, and what is wrong with a map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import praemia
from praemia import envs
from praemia.envs.grid_map import GridMap
from praemia.envs.office import LEGEND, MAP
from praemia.errors import ModelError, PraemiaError, PraemiaWarning
from praemia.pictures.task_picture import task_picture
from praemia.tasks.task import Task

UP, RIGHT, DOWN, LEFT = (-1, 0), (0, 1), (1, 0), (0, -1)
WAYS = (UP, RIGHT, DOWN, LEFT)
ONLY = {"^": UP, ">": RIGHT, "v": DOWN, "<": LEFT}


def pays(*names: str) -> praemia.RewardMachine:
    """A machine that pays 1 for the first of the names and can read the others."""
    return praemia.MachineBuilder("out", names).edge("out", names[0], "done", reward=1).build()


def make(text: str, **options: object) -> Task:
    return envs.grid(text, **{"machine": pays("goal"), "horizon": 5, **options})  # type: ignore[arg-type]


S = {"S": "goal"}  # a start that the legend explains too

Thin = frozenset[frozenset[tuple[int, int]]]  # pairs of cells with a wall between them


def dense(
    rows: list[str], slip: tuple[float, float, float, float], stay: bool = False, thin: Thin = frozenset()
) -> NDArray[np.float64]:
    """The kernel of a map, cell by cell, as the documents state it."""
    cells = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter != "#"]
    kernel = np.zeros((len(cells), 5 if stay else 4, len(cells)))
    for o, (r, c) in enumerate(cells):
        for a in range(4):
            for turn, probability in ((0, slip[0]), (1, slip[1]), (3, slip[2])):
                way = WAYS[(a + turn) % 4]
                aim = (r + way[0], c + way[1])
                forbidden = rows[r][c] in ONLY and ONLY[rows[r][c]] != way
                forbidden |= rows[r][c] == "~" or frozenset({(r, c), aim}) in thin
                kernel[o, a, o if forbidden or aim not in cells else cells.index(aim)] += probability
            kernel[o, a, o] += slip[3]
        if stay:
            kernel[o, 4, o] = 1.0
    return kernel


@given(
    st.integers(1, 4).flatmap(lambda width: st.lists(st.text("#.S><^v~", min_size=width, max_size=width), min_size=1)),
    st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any),
    st.booleans(),
)
@settings(deadline=None, max_examples=40)
@pytest.mark.filterwarnings("ignore::praemia.errors.PraemiaWarning")
def test_the_kernel_is_the_one_written_out(rows: list[str], weights: list[int], stay: bool) -> None:
    rows = [*rows[:4], "S" * len(rows[0])]
    slip = tuple(weight / sum(weights) for weight in weights)
    task = make("\n".join(rows), slip=slip, stay=stay)
    np.testing.assert_allclose(task.mdp.to_dense(), dense(rows, slip, stay), atol=1e-15)  # type: ignore[arg-type]
    starts = np.array([letter == "S" for row in rows for letter in row if letter != "#"])
    np.testing.assert_allclose(task.mdp.start_probs, starts / starts.sum())


def with_lines(rows: list[str], thin: Thin) -> str:
    """Write thin walls into a map: a line of characters wherever there is one between two rows or two columns."""
    columns = range(len(rows[0]))
    upright = {c for c in columns for r in range(len(rows)) if frozenset({(r, c), (r, c + 1)}) in thin}
    text = []
    for r, row in enumerate(rows):
        sides = ["|" if frozenset({(r, c), (r, c + 1)}) in thin else "+" for c in columns]
        text.append("".join(row[c] + (sides[c] if c in upright else "") for c in columns))
        below = ["-" if frozenset({(r, c), (r + 1, c)}) in thin else "+" for c in columns]
        if "-" in below:
            text.append("".join(below[c] + ("+" if c in upright else "") for c in columns))
    return "\n".join(text)


@given(st.data())
@settings(deadline=None, max_examples=60)
@pytest.mark.filterwarnings("ignore::praemia.errors.PraemiaWarning")
def test_thin_walls_stand_between_the_cells_that_they_are_drawn_between(data: st.DataObject) -> None:
    height, width = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    rows = data.draw(st.lists(st.text(".#v", min_size=width, max_size=width), min_size=height, max_size=height))
    rows = ["S" + rows[0][1:], *rows[1:]]
    pairs = [frozenset({(r, c), (r, c + 1)}) for r in range(height) for c in range(width - 1)]
    pairs += [frozenset({(r, c), (r + 1, c)}) for r in range(height - 1) for c in range(width)]
    thin = frozenset(data.draw(st.sets(st.sampled_from(pairs))) if pairs else ())
    slip = (0.5, 0.25, 0.125, 0.125)
    task = make(with_lines(rows, thin), slip=slip)
    np.testing.assert_array_equal(task.mdp.to_dense(), dense(rows, slip, thin=thin))
    cells = [f"{r},{c}" for r, row in enumerate(rows) for c, letter in enumerate(row) if letter != "#"]
    assert list(task.mdp.observation_names or ()) == cells


def test_the_fields_office_map_is_read_with_its_wall_lines_as_thin_walls() -> None:
    """The published text has # for walls and + for doors, on lines that are no cells; the building is ours."""
    text = """
        ...#...#...#...
        .B.+.p.+.p.+.C.
        ...#c..#...#...
        #+###+###+###+#
        ...#...#...#...
        .p.#.O.#.m.#.p.
        ...#...#...#...
        #+###########+#
        ...#...#..c#...
        .A.+.p.+.p.+.D.
        E..#...#...#...
    """
    published = GridMap(text.replace("#", "|"), {letter: letter for letter in "ABCDcmpO"}, start="E")
    assert published.cells.shape == (9, 12)
    np.testing.assert_array_equal(published.destinations, GridMap(MAP, LEGEND).destinations)


def test_a_frame_of_thin_walls_changes_nothing() -> None:
    plain, framed = make("S.\n.."), make("+--+\n|S.|\n|..|\n+--+")
    np.testing.assert_array_equal(plain.mdp.to_dense(), framed.mdp.to_dense())
    assert plain.mdp.observation_names == framed.mdp.observation_names


def test_thin_walls_and_doors_in_them_separate_rooms(tmp_path: Path) -> None:
    task = make("S.|.o\nk.+..", rooms={"k": "goal", "o": "office"}, machine=pays("goal", "office"))
    numbers, sets = task.mdp.labelling.of(*(np.arange(8) for _ in range(3)))
    assert [set(sets[number]) for number in numbers] == [{"goal"}, {"goal"}, {"office"}, {"office"}] * 2
    assert str(task.draw()).splitlines()[3:6] == ["| S   . | .   o |", "+       +       +", "| k   .   .   . |"]
    praemia.save_task(task, tmp_path / "task.yaml")
    assert same(praemia.load_task(tmp_path / "task.yaml"), task)
    assert "S.|.o" in (tmp_path / "task.yaml").read_text()


def test_a_task_that_is_only_drawn_by_a_map_is_not_written_as_the_map(tmp_path: Path) -> None:
    """In two rooms labels hold where a cell is left; a map of a file would have them where it is reached."""
    task = envs.two_rooms(5)
    praemia.save_task(task, tmp_path / "task.yaml")
    assert "grid" not in (tmp_path / "task.yaml").read_text()
    assert praemia.solve(praemia.load_task(tmp_path / "task.yaml")).value == praemia.solve(task).value


def test_one_number_is_the_slip_to_both_sides_together() -> None:
    one, four = make("S.\n..", slip=0.3), make("S.\n..", slip=(0.7, 0.15, 0.15, 0.0))
    np.testing.assert_array_equal(one.mdp.to_dense(), four.mdp.to_dense())


def test_reaching_a_cell_or_staying_there_makes_its_letter_true_and_leaving_does_not() -> None:
    mdp = make("Sg.", legend={"g": "goal"}, stay=True, slip=0.0).mdp
    sources, actions, targets = np.array([[0, 1, 1], [1, 4, 1], [1, 1, 2], [2, 3, 1], [0, 4, 0]]).T
    numbers, sets = mdp.labelling.of(sources, actions, targets)
    assert [set(sets[number]) for number in numbers] == [{"goal"}, {"goal"}, set(), {"goal"}, set()]


def test_a_letter_of_the_legend_or_of_the_start_has_no_other_meaning() -> None:
    assert make("S|-", legend={"|": "goal", "-": "goal"}).num_observations == 3
    assert make("-|-", legend={"|": "goal"}, start="-").num_observations == 3
    kernel = make("h>.", legend={">": "goal"}, start="h", slip=0.0).mdp.to_dense()
    assert kernel[1, 3, 0] == 1.0
    task = make("S.h", legend={"S": "goal"}, start="h", slip=0.0)
    assert task.mdp.start_probs.tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(ModelError, match=r"'S' is explained otherwise.*start"):
        make("S.h", legend={"S": "goal"})


def test_a_room_is_what_walls_and_doors_enclose() -> None:
    text = """
        ########
        #S.#..g#
        #.k+.o.#
        #..#...#
        ########
    """
    names = {"g": "goal"}, {"k": "kitchen", "o": ["office", "quiet"]}
    machine = pays("goal", "kitchen", "office", "quiet")
    task = make(text, legend=names[0], rooms=names[1], machine=machine)
    mdp = task.mdp
    cells = list(mdp.observation_names or ())
    targets = np.arange(len(cells))
    numbers, sets = mdp.labelling.of(targets, 0 * targets, targets)
    found = {cell: set(sets[number]) for cell, number in zip(cells, numbers, strict=True)}
    assert all(found[f"{r},{c}"] == {"kitchen"} for r in (1, 2, 3) for c in (1, 2))
    assert found["2,3"] == set()  # the door
    assert found["1,6"] == {"goal", "office", "quiet"}
    assert all(found[f"3,{c}"] == {"office", "quiet"} for c in (4, 5, 6))


FILE = """
grid:
  map: |
    #########
    #S.>#..i#
    #...+...#
    #k..#..d#
    #########
  legend: {i: item, d: [delivery]}
  rooms: {k: hall}
  slip: [0.6, 0.2, 0.1, 0.1]
  stay: true
machine:
  states: [empty, loaded, done]
  initial: empty
  propositions: [item, delivery, hall]
  transitions:
    - {from: empty, when: item, to: loaded}
    - {from: loaded, when: delivery, to: done, reward: 1}
horizon: 30
"""


def same(task: Task, other: Task) -> bool:
    names = ("indptr", "successors", "probs", "labels", "start_probs")
    arrays = all(np.array_equal(getattr(task.mdp, name), getattr(other.mdp, name)) for name in names)
    return arrays and task.machine == other.machine and task.mdp.label_sets == other.mdp.label_sets


def test_a_file_and_python_make_the_same_task(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(FILE)
    task = praemia.load_task(path)
    machine = (
        praemia.MachineBuilder("empty", ("item", "delivery", "hall"))
        .edge("empty", "item", "loaded")
        .edge("loaded", "delivery", "done", reward=1)
        .build()
    )
    text = "\n".join(FILE.splitlines()[3:8])
    own = envs.grid(
        text,
        legend={"i": "item", "d": "delivery"},
        rooms={"k": "hall"},
        slip=(0.6, 0.2, 0.1, 0.1),
        stay=True,
        machine=machine,
        horizon=30,
    )
    assert same(task, own)
    assert task.horizon == own.horizon


@pytest.mark.parametrize("suffix", ["yaml", "json"])
@pytest.mark.parametrize(
    "name", ["file", "S", "office-mail", "office-map2-exp1", "generated-traps-3", "generated-lake-4"]
)
def test_a_map_is_written_as_a_map(tmp_path: Path, name: str, suffix: str) -> None:
    (tmp_path / "task.yaml").write_text(FILE)
    tasks = {"file": lambda: praemia.load_task(tmp_path / "task.yaml"), "S": lambda: make("S.", legend=S, start="S")}
    task, path = tasks.get(name, lambda: envs.make(name))(), tmp_path / f"again.{suffix}"
    praemia.save_task(task, path)
    again = praemia.load_task(path)
    assert "grid" in path.read_text()
    assert same(task, again)
    assert str(again.draw()).split("\n")[1:] == str(task.draw()).split("\n")[1:]


@given(
    st.lists(
        st.characters(categories=("L", "N", "P", "S"), exclude_characters="#.S"), min_size=1, max_size=4, unique=True
    ),
    st.sampled_from(["yaml", "json"]),
)
@settings(deadline=None, max_examples=60)
@pytest.mark.filterwarnings("ignore::praemia.errors.PraemiaWarning")
def test_letters_of_any_kind_survive_a_file(
    tmp_path_factory: pytest.TempPathFactory, letters: list[str], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("maps") / f"task.{suffix}"
    legend = {letter: f"p{i}" for i, letter in enumerate(letters)}
    task = make("S" + "".join(letters), legend=legend, machine=pays(*legend.values()))
    praemia.save_task(task, path)
    assert same(task, praemia.load_task(path))


def test_the_picture_of_a_map_is_the_map_and_says_what_letters_do() -> None:
    machine = (
        praemia.MachineBuilder("out", ("key", "door", "plant"))
        .edge("out", "key & !plant", "in")
        .edge("out", "plant", "over")
        .edge("in", "door", "done", reward=1)
        .build()
    )
    legend = {"k": "key", "d": "door", "p": "plant"}
    task = envs.grid("Sk\n#d\np<", legend=legend, machine=machine, horizon=9)
    shown = task_picture(task)
    roles = [(spot.mark.symbol, spot.mark.role) if spot.mark else None for spot in shown.spots]
    assert roles == [("S", "start"), ("k", "waypoint"), ("d", "goal"), ("p", "danger"), ("<", "plain")]
    assert [(spot.x, spot.y) for spot in shown.spots] == [(0.5, 0.5), (1.5, 0.5), (1.5, 1.5), (0.5, 2.5), (1.5, 2.5)]
    assert shown.blocks == ((0.5, 1.5),)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("S..\n..", {}, "map, row 2: 2 cells, where row 1 has 3"),
        ("S.\n.x", {"legend": {"S": "goal"}, "start": "x", "slip": 2}, "slip=2; expected four probabilities"),
        ("S.\n.x", {}, "map, row 2, column 2: unknown letter 'x'; expected # "),
        ("S.\n.x", {"legend": {"S": "goal"}, "start": "."}, "unknown letter 'x'.*explained: 'S'"),
        ("..\n..", {}, "no cell has the letter 'S', so there is no start"),
        ("S.", {"start": "h"}, "no cell has the letter 'h'"),
        ("S.", {"start": "ho"}, "start: found 'ho'; expected a letter"),
        ("S.", {"legend": {"i": "goal"}}, "legend: the letter 'i' is nowhere on the map"),
        ("Si", {"legend": {"i": "gaol"}}, "the proposition 'gaol', which is not one of the machine's.*'goal'"),
        ("Si", {"rooms": {"i": "hall"}}, "the proposition 'hall', which is not"),
        ("Si", {"legend": {"i": "goal"}, "rooms": {"i": "goal"}}, "rooms: the letter 'i' is in the legend too"),
        ("Sij", {"rooms": {"i": "goal", "j": "goal"}}, "row 1, column 3: the rooms 'i' and 'j' are joined by floor"),
        ("S#", {"legend": {"#": "goal"}}, "'#' stands for a wall"),
        ("Sab", {"legend": {"ab": "goal"}}, "'ab' is not a letter"),
        ("Si", {"legend": {"i": 3}}, "letter 'i' is 3; expected"),
        ("Si", {"legend": "i"}, "legend='i'; expected letters"),
        ("S", {"slip": (0.7, 0.1, 0.1)}, "slip=.*expected four"),
        ("S", {"slip": (0.7, 0.1, 0.1, 0.2)}, "slip=.*sum 1"),
        ("S", {"slip": "a"}, "slip='a'; expected"),
        ("S", {"slip": "0.1"}, "slip='0.1'; expected"),
        ("S", {"slip": True}, "slip=True; expected"),
        ("S", {"slip": 0.1j}, "slip=0.1j; expected"),
        ("S", {"slip": ["1", "0", "0", "0"]}, "slip=.*expected four"),
        ("S", {"slip": float("nan")}, "slip=nan; expected"),
        ("S", {"stay": "yes"}, "stay='yes'; expected True or False"),
        ("", {}, "map: found ''; expected rows"),
        ("S|.\n...", {}, r"row 1, column 2: a thin wall '\|' among cells; the whole row or the whole column"),
        (None, {}, "map: found None; expected rows"),
        ("S", {"machine": "F goal"}, "machine='F goal'; expected a RewardMachine"),
    ],
)
def test_what_is_wrong_with_a_map_is_said_with_its_place(text: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        make(text, **options)


def test_cells_that_cannot_be_reached_are_a_warning() -> None:
    with pytest.warns(PraemiaWarning, match=r"2 of 3 observations cannot be reached from the start: 0,2, 0,3"):
        make("S#..")
    with pytest.warns(PraemiaWarning, match=r"1 of 3 observations cannot be reached from the start: 0,0"):
        make(".>S")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#S.>#..i#", "#S.>#..i", "bad.yaml:3: map, row 2: 8 cells"),
        ("#...+...#", "#...+.?.#", "map, row 3, column 7: unknown letter '?'"),
        ("slip: [0.6, 0.2, 0.1, 0.1]", "slip: [0.6, 0.2, 0.1]", "bad.yaml:11: slip="),
        ("slip: [0.6, 0.2, 0.1, 0.1]", "slip: fast", "slip='fast'; expected four"),
        ("i: item", "i: itme", "'itme', which is not one of the machine's (did you mean 'item'?)"),
        ("legend:", "legnd:", "unknown key 'legnd' (did you mean 'legend'?)"),
        ("horizon: 30", "", "the key 'horizon' is missing"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(PraemiaError) as caught:
        praemia.load_task(path)
    assert message in str(caught.value)


@pytest.mark.parametrize("letters", [{"legend": {"k": "goal"}}, {"rooms": {"k": "goal"}}, {}])
def test_starts_are_marked_whatever_else_their_letter_means(letters: dict[str, object]) -> None:
    task = make("k....", start="k", **letters)
    assert [spot.mark.is_start for spot in task_picture(task).spots if spot.mark] == [True]
