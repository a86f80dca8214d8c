"""Draw the figures of the documentation: ``.venv/bin/python docs/make_pictures.py [NAME …]``.

The same versions of the packages give the same files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import concept_pictures
from concept_pictures import svg_of

import praemia
from praemia.pictures.episodes import save_gif

FOLDER = Path(__file__).parent / "pictures"
WAREHOUSE = praemia.envs.warehouse(size=4)


def regret() -> str:
    """Draw what the code of the README draws."""
    return svg_of(
        praemia.compare(WAREHOUSE, ["headroom", "ucbvi-prm", "ucbvi"], num_episodes=10_000, num_runs=8).figure
    )


FIGURES: dict[str, Callable[[], str]] = {
    "regret": regret,
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
