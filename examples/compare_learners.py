"""Compare learners on one task by their exact regret: a table, and a figure if matplotlib is installed."""

import numpy as np

import praemia

TASK = praemia.envs.warehouse(size=3)
LEARNERS = ("ucbvi-prm", "ucbvi", "ucrl2-rm-b", "psrl", "random")
NUM_RUNS, NUM_EPISODES = 4, 500


def regret_curves(name: str) -> np.ndarray:
    """Return the exact regret after each episode, float64[R, K]."""
    learner = praemia.learners.make(name)
    return np.stack([praemia.simulate(TASK, learner, NUM_EPISODES, seed).regret for seed in range(NUM_RUNS)])


def draw(curves: dict[str, np.ndarray], path: str) -> None:
    """Draw the mean curves, without random play, which would dwarf the others."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, runs in curves.items():
        if name != "random":
            axes.plot(np.arange(1, NUM_EPISODES + 1), runs.mean(axis=0), label=name)
    axes.set(xlabel="episodes", ylabel="exact regret", title=TASK.name)
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    curves = {name: regret_curves(name) for name in LEARNERS}
    print(f"{TASK}: {NUM_RUNS} runs of {NUM_EPISODES:,} episodes")
    for name, runs in curves.items():
        print(f"{name:12} {runs[:, -1].mean():8.2f} ± {runs[:, -1].std(ddof=1):.2f}")
    try:
        draw(curves, "regret.svg")
        print("wrote regret.svg")
    except ImportError:
        print("no figure: it needs matplotlib")
