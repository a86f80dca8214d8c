"""Draw the figures of the documentation: ``.venv/bin/python docs/make_pictures.py [NAME …]``.

``overview`` shows the 4 × 4 warehouse, its machine, and the exact regret of three learners on it (16 runs of
10,000 episodes each, seeds 0 … 15). The same versions of the packages give the same file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import concept_pictures
import numpy as np
from concept_pictures import svg_of
from matplotlib.figure import Figure

import praemia
from praemia.pictures.diagrams import machine_svg

FOLDER = Path(__file__).parent / "pictures"
NUM_RUNS, NUM_EPISODES = 16, 10_000
LEARNERS = {  # title: learner, colour (Okabe and Ito's palette)
    "UCBVI": (praemia.UCBVI(), "#D55E00"),
    "UCBVI-PRM": (praemia.UCBVIPRM(), "#0072B2"),
    "headroom": (praemia.Headroom(), "#009E73"),
}
WIDTH, TOP, BOTTOM = 960, 360, 130
GRID_WIDTH = 370
HEADING = 30


def regret_svg(task: praemia.Task, width: float, height: float) -> str:
    """Return the mean exact regret of each learner, with a band of one standard deviation."""
    figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
    axes = figure.subplots()
    episodes = np.unique(np.geomspace(1, NUM_EPISODES, 300).astype(int))
    for title, (learner, colour) in LEARNERS.items():
        runs = [praemia.simulate(task, learner, NUM_EPISODES, seed) for seed in range(NUM_RUNS)]
        curves = np.stack([run.regret[episodes - 1] for run in runs])
        mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=1)
        axes.fill_between(episodes, mean - spread, mean + spread, color=colour, alpha=0.18, linewidth=0)
        axes.plot(episodes, mean, color=colour, linewidth=2)
        axes.text(NUM_EPISODES * 1.02, mean[-1], f"{title}\n{mean[-1]:.0f}", color=colour, va="center", fontsize=11)
    axes.set(xlim=(0, NUM_EPISODES), ylim=(0, None), xlabel="episodes", ylabel="regret, exact")
    axes.set_xticks(range(0, NUM_EPISODES + 1, 2500), [f"{k:,}" for k in range(0, NUM_EPISODES + 1, 2500)])
    axes.set_title("What learning costs", fontsize=12, fontweight="bold")
    note = f"{NUM_RUNS} runs: mean and one standard deviation"
    axes.text(NUM_EPISODES * 0.98, 8, note, color="#57606a", ha="right", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return svg_of(figure)


def placed(svg: str, x: float, y: float, width: float, height: float) -> str:
    """Return an SVG document as an element of another, fitted into a box."""
    element = svg[svg.index("<svg") :]
    opening = element[: element.index(">") + 1]
    view = re.search(r'viewBox="[^"]*"', opening)
    font = re.search(r'font-family="[^"]*"', opening)
    assert view is not None
    kept = f"{view.group()} {font.group() if font else ''}"
    box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f"<svg {box} {kept}>{element[len(opening) :]}"


def heading(text: str, y: float) -> str:
    """Return a line of bold text in the middle."""
    font = 'font-family="Helvetica, Arial, sans-serif" font-size="15" font-weight="bold"'
    return f'<text x="{WIDTH / 2:g}" y="{y:g}" {font} text-anchor="middle" fill="#22272e">{text}</text>'


def overview() -> str:
    """Return the picture of the README."""
    task = praemia.envs.warehouse(size=4)
    rest = WIDTH - GRID_WIDTH
    parts = [
        placed(praemia.envs.svg_picture(task), 0, 0, GRID_WIDTH, TOP),
        placed(regret_svg(task, rest, TOP - 10), GRID_WIDTH, 5, rest, TOP - 10),
        heading("Its machine: label | probability, reward", TOP + 0.6 * HEADING),
        placed(machine_svg(task.machine), 0, TOP + HEADING, WIDTH, BOTTOM),
    ]
    height = TOP + HEADING + BOTTOM + 10
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    text = "\n".join([f'<svg {links} {size} role="img">', ground, *parts, "</svg>"])
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


PICTURES = {
    "overview": overview,
    "warehouse": lambda: praemia.envs.svg_picture("warehouse-4"),
    "policy": lambda: praemia.show(praemia.envs.warehouse(size=4)).svg,
    "warehouse-machine": lambda: machine_svg(praemia.envs.warehouse().machine),
    "regret": lambda: regret_svg(praemia.envs.warehouse(size=4), 590, 350),
    "exact-regret": concept_pictures.exact_regret,
    "machine-size": concept_pictures.machine_size,
    "certificates": concept_pictures.certificates,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        (FOLDER / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")
