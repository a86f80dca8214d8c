"""What a notebook shows: tasks, machines, runs and tables have a card with numbers and pictures, others a repr."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest

import praemia
from praemia._support.text_tables import number
from praemia.errors import missing_extra
from praemia.pictures import diagrams

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

SETUP = """
import praemia
task = praemia.envs.warehouse(size=3)
run = praemia.simulate(task, praemia.Random(), num_episodes=40)
plan = praemia.solve(task)
data = praemia.explore(task, num_episodes=5, seed=0)
result = praemia.compare(task, ["optimal", "random"], num_episodes=40, num_runs=2)
"""
# What is shown, whether with a picture, and numbers or names that must be on the card.
CARDS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "task": (True, ("warehouse-3", "9 observations", "3 machine states", "horizon 9", "optimal value 0.")),
    "task.machine": (True, ("probabilistic", "3 machine states", "2 propositions")),
    "run": (True, ("random on warehouse-3", "40 episodes", "regret")),
    "result": (True, ("random", "95% low", "who is lower", "2 runs")),
    "result.table": (False, ("regret", "95% high")),
}
PLAIN = (
    *("plan", "praemia.Policy(plan.policy, task.name)", "praemia.rollout(task, plan, seed=1)", "data"),
    *("praemia.plan_from(data, task.machine)", 'praemia.infer([[({"item"}, 0.0), ({"door"}, 1.0)]])'),
)
PICTURES = ("run.plot()", "task.draw()", "task.show()", "task.machine.draw()", "result.figure")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run a notebook, with a cell for each expression; return what each cell displays, by media type."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *CARDS, *PLAIN, *PICTURES)]
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(cells=cells),
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute(env={**os.environ, "IPYTHONDIR": str(folder / ".ipython")})
    outputs = {cell.source: [item for item in cell.outputs if item.output_type != "stream"] for cell in cells[1:]}
    assert all(len(items) == 1 for items in outputs.values())
    return {source: items[0]["data"] for source, items in outputs.items()}


def test_a_notebook_shows_cards_with_numbers_and_pictures(shown: dict[str, Any]) -> None:
    for source, (has_picture, texts) in CARDS.items():
        card = shown[source]["text/html"]
        assert [text for text in texts if text not in card] == []
        assert ("data:image/svg+xml;base64," in card) is has_picture
        assert "no picture" not in card
        assert not re.search(r"<(style|script|link)", card)  # it would leak into the rest of the notebook
    for source in PICTURES:
        assert "<svg" in shown[source]["image/svg+xml"]


def test_a_repr_has_at_most_three_lines_that_fit_a_screen(shown: dict[str, Any]) -> None:
    for data in shown.values():
        lines = data["text/plain"].splitlines()
        assert len(lines) <= 3
        assert max(map(len, lines)) <= 160
        assert " object at 0x" not in lines[0]


def test_a_picture_that_cannot_be_drawn_is_replaced_by_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_graphviz(*_: object) -> bytes:
        raise missing_extra("drawing a machine", "diagrams")

    machine = praemia.envs.warehouse(size=3).machine
    monkeypatch.setattr(diagrams, "require", without_graphviz)
    card = machine._repr_html_()
    assert "no picture: drawing a machine" in card
    assert "<img" not in card


def test_names_of_a_user_are_escaped() -> None:
    warehouse = praemia.envs.warehouse(size=3)
    task = praemia.Task(warehouse.mdp, warehouse.machine, horizon=3, name="<b>mine</b>")
    assert "&lt;b&gt;mine" in task._repr_html_()
    assert "<b>mine" not in task._repr_html_()


def test_a_black_box_run_shows_its_mean_return() -> None:
    run = praemia.simulate(praemia.envs.warehouse(size=3), praemia.Random(), num_episodes=20)
    unknown = replace(run, optimal_value=None)
    assert f"mean return {run.returns.mean():.4g}" in unknown._repr_html_()
    assert str(unknown.plot()).split()[-1] == number(run.returns[-2:].mean())  # a tenth of the episodes
