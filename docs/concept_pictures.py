"""The figures of the pages on concepts; ``docs/make_pictures.py`` makes them."""

from __future__ import annotations

import io
import re

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import praemia
from praemia.pictures.colours import DARK, GREY, INK
from praemia.report.styles import STYLES

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito's palette


def blank() -> tuple[Figure, Axes]:
    """Return an empty figure without a frame at the top and right."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def svg_of(figure: Figure) -> str:
    """Return a figure as an SVG document that is the same for the same data."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "praemia", "font.family": "sans-serif"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return with_dark_rules("".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines()))


def with_dark_rules(svg: str) -> str:
    """Return a figure of matplotlib with a style sheet that exchanges its colours on dark pages."""
    partners = {**DARK, "#000000": DARK[INK], "#6b7280": DARK[GREY]}
    used = [
        (name, light) for name, light in set(re.findall(r"(fill|stroke): (#[0-9a-f]{6})", svg)) if light in partners
    ]
    rules = [f'[style*="{name}: {light}"] {{ {name}: {partners[light]} !important }}' for name, light in sorted(used)]
    sheet = "\n".join(["@media (prefers-color-scheme: dark) {", f"text {{ fill: {DARK[INK]} }}", *rules, "}"])
    return svg.replace("</defs>\n", f"</defs>\n<style>{sheet}</style>\n", 1)


def exact_regret() -> str:
    """Show the exact regret of one run beside the one that its returns suggest."""
    run = praemia.simulate(praemia.envs.warehouse(size=4), praemia.UCBVIPRM(), num_episodes=5_000, seed=0)
    assert run.optimal_value is not None
    episodes = np.arange(1, run.num_episodes + 1)
    from_returns = np.cumsum(run.optimal_value - run.returns)
    shown = np.unique(np.geomspace(1, run.num_episodes, 800).astype(int)) - 1
    figure, axes = blank()
    axes.plot(episodes[shown], from_returns[shown], color=ORANGE, linewidth=1, label="from returns")
    axes.plot(episodes[shown], run.regret[shown], color=BLUE, linewidth=2, label="exact")
    axes.set(xlabel="episodes", ylabel="regret", xlim=(0, run.num_episodes))
    axes.legend(frameon=False)
    return svg_of(figure)


def machine_size() -> str:
    """Show the regret in the flower against the number of machine states."""
    loops = (5, 10, 20, 40)
    tasks = [praemia.envs.flower(loop=loop) for loop in loops]
    sizes = [task.num_machine_states for task in tasks]
    figure, axes = blank()
    for title, learner in (("UCBVI", praemia.UCBVI()), ("UCBVI-PRM", praemia.UCBVIPRM())):
        style = STYLES[learner.name]
        finals = np.array([[praemia.simulate(task, learner, 2_000, s).regret[-1] for s in range(8)] for task in tasks])
        axes.errorbar(
            sizes, finals.mean(1), finals.std(1, ddof=1), color=style.on_light, marker="o", capsize=3, label=title
        )
    axes.set(xlabel="machine states", ylabel="exact regret after 2,000 episodes", ylim=(0, None))
    axes.legend(frameon=False)
    return svg_of(figure)


def certificates() -> str:
    """Show certificates and true losses against the amount of exploration."""
    task = praemia.envs.warehouse(size=4)
    machine = (
        praemia.MachineBuilder("out").edge("out", "delivery", "back").edge("back", "item", "done", reward=1).build()
    )
    asked = task.with_machine(machine)
    sizes = (300, 1_000, 3_000, 10_000, 30_000)
    bounds, losses = np.empty((len(sizes), 4)), np.empty((len(sizes), 4))
    for i, episodes in enumerate(sizes):
        for seed in range(4):
            data = praemia.explore(task, num_episodes=episodes, seed=seed)
            plan = praemia.plan_from(data, machine)
            bounds[i, seed], losses[i, seed] = plan.certificate.bound, plan.gap(asked)
    figure, axes = blank()
    axes.semilogx(sizes, bounds.mean(1), color=ORANGE, marker="o", label="certificate, ρ = 0.05")
    axes.semilogx(sizes, losses.mean(1), color=BLUE, marker="s", label="true loss")
    axes.set(xlabel="episodes of exploration", ylabel="loss per episode", ylim=(0, None))
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.legend(frameon=False)
    return svg_of(figure)
