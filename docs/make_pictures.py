"""Draw the figures of the documentation: ``.venv/bin/python docs/make_pictures.py [NAME …]``.

The same versions of the packages give the same files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import concept_pictures
import numpy as np

import praemia
from praemia.pictures.colours import GREY
from praemia.pictures.episodes import save_gif
from praemia.pictures.renderers import render_svg
from praemia.pictures.scene import Area, Item, Scene, Text, place
from praemia.pictures.task_picture import map_scene, task_picture
from praemia.report.styles import STYLES

FOLDER = Path(__file__).parent / "pictures"
WAREHOUSE = praemia.envs.warehouse(size=4)


def regret() -> str:
    """Draw what the code of the README draws."""
    return praemia.compare(WAREHOUSE, ["headroom", "ucbvi-prm", "ucbvi"], num_episodes=10_000, num_runs=8).figure.svg


def lost() -> str:
    """Draw how many deliveries three learners lose while they learn, as bars."""
    result = praemia.compare(WAREHOUSE, ["headroom", "ucbvi-prm", "ucbvi"], num_episodes=10_000, num_runs=8)
    means = {series.title: float(np.mean([run.regret[-1] for run in series.runs])) for series in result.series}
    items: list[Item] = [Text(8, 22, "deliveries lost while learning", 15, bold=True)]
    items.append(Text(8, 42, "10,000 episodes, mean of 8 runs", 12, GREY))
    for row, (name, mean) in enumerate(means.items()):
        y, width = 68 + 28 * row, 240 * mean / max(means.values())
        items.append(Text(8, y, name, 13))
        items.append(Area(88 + width / 2, y, width, 18, STYLES[name].on_light))
        items.append(Text(94 + width, y, f"{mean:.0f}", 14, bold=True))
    return page(380, 142, items, "Deliveries lost while learning")


def environments() -> str:
    """Draw the maps of six built-in environments side by side."""
    names = ("riverswim-5", "warehouse-5", "rooms-9", "generated-lake-42", "generated-maze-42", "office-map1-exp1")
    items: list[Item] = []
    x, high = 12.0, 130.0
    for name in names:
        bare = map_scene(task_picture(praemia.envs.make(name)))
        scale = min(160 / bare.width, high / bare.height)
        items += place(bare.items, x, 10 + (high - scale * bare.height) / 2, scale)
        items.append(Text(x + scale * bare.width / 2, high + 28, name, 13, anchor="middle"))
        x += max(scale * bare.width, 8.0 * len(name)) + 16
    return page(x, high + 42, items, "Six of the built-in environments")


def page(width: float, height: float, items: list[Item], title: str) -> str:
    """Put items on a page."""
    return render_svg(Scene(width, height, tuple(items), title))


FIGURES: dict[str, Callable[[], str]] = {
    "regret": regret,
    "lost": lost,
    "environments": environments,
    "warehouse": lambda: WAREHOUSE.draw().svg,
    "policy": lambda: praemia.show(WAREHOUSE).svg,
    "warehouse-machine": lambda: WAREHOUSE.machine.draw().svg,
    "exact-regret": concept_pictures.exact_regret,
    "machine-size": concept_pictures.machine_size,
    "certificates": concept_pictures.certificates,
}


def draw(name: str) -> None:
    """Write one picture."""
    if name == "episode":  # one in which the item is not ready at once
        save_gif(praemia.rollout(WAREHOUSE, praemia.solve(WAREHOUSE), seed=9), FOLDER / "episode.gif")
    elif name == "watch":
        praemia.watch(WAREHOUSE, "headroom").save(FOLDER / "watch.html")
    else:
        (FOLDER / f"{name}.svg").write_text(FIGURES[name](), encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:] or [*FIGURES, "episode", "watch"]:
        draw(each)
