"""The built-in experiments: the paper's own, and one for each claim that it makes without an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from praemia.errors import unknown_name
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText

RIVERSWIMS = ("riverswim-5", "riverswim-10", "riverswim-15")
WAREHOUSES = ("warehouse-3", "warehouse-4", "warehouse-5")
FLOWER_LOOPS = (5, 20, 80)
SIX_SETTINGS, TUNING = "paper", "tuning"

# The exploration coefficients that the paper ends with (its appendix on the exploration coefficient).
UCBVI_PRM = LearnerChoice.of("ucbvi-prm", "UCBVI-PRM", bonus_scale=0.001)
UCBVI = LearnerChoice.of("ucbvi", "UCBVI", bonus_scale=0.001)
UCRL2_L = LearnerChoice.of("ucrl2-rm-l", "UCRL2-RM-L", bonus_scale=0.5)
UCRL2_B = LearnerChoice.of("ucrl2-rm-b", "UCRL2-RM-B", bonus_scale=0.1)
UCRL2_B_PUBLISHED = LearnerChoice.of("ucrl2-rm-b", "UCRL2-RM-B as published", bonus_scale=0.1, as_published=True)
PAPER_LEARNERS = (UCBVI_PRM, UCBVI, UCRL2_L, UCRL2_B_PUBLISHED, UCRL2_B)
# Not of the paper, but asked about in its settings: this package's own learner, and the best baseline where it is best.
UCRL2_B_BEST = LearnerChoice.of("ucrl2-rm-b", "UCRL2-RM-B 0.03", bonus_scale=0.03)
HEADROOM = LearnerChoice.of("headroom")

# The candidates of the paper's table of exploration coefficients: six for each learner.
CANDIDATES = {
    "ucbvi-prm": (0.001, 0.01, 0.1, 0.5, 1.0, 2.0),
    "ucbvi": (0.001, 0.01, 0.1, 0.5, 1.0, 2.0),
    "ucrl2-rm-l": (0.1, 0.25, 0.5, 0.75, 1.0, 2.0),
    "ucrl2-rm-b": (0.01, 0.1, 0.5, 0.75, 1.0, 2.0),
}


def experiments(num_runs: int = 16, num_episodes: int = 10_000, seed: int = 0) -> list[Experiment]:
    """Return what ``praemia reproduce`` runs."""

    def settings(tasks: Iterable[TaskText], choices: tuple[LearnerChoice, ...]) -> tuple[Setting, ...]:
        return tuple(Setting(task, choices, num_runs, num_episodes, seed) for task in tasks)

    paper = [TaskText.builtin(name) for name in (*RIVERSWIMS, *WAREHOUSES)]
    variants = [TaskText.builtin(name.replace("riverswim", "riverswim-prm")) for name in RIVERSWIMS]
    flowers = [TaskText.builtin(f"flower-{loop}") for loop in FLOWER_LOOPS]
    horizons = [TaskText.builtin("riverswim-10", horizon=horizon) for horizon in (20, 40, 80)]
    rivers = [TaskText.builtin(f"riverswim-{size}", horizon=40) for size in (5, 10, 20)]
    return [
        Experiment(
            SIX_SETTINGS, "The six settings of the paper", settings(paper, (*PAPER_LEARNERS, UCRL2_B_BEST, HEADROOM))
        ),
        Experiment("riverswim-prm", "RiverSwim with a probabilistic patrol", settings(variants, PAPER_LEARNERS)),
        Experiment(
            "machine-size", "Regret against the number of machine states", settings(flowers, (UCBVI_PRM, UCBVI))
        ),
        Experiment("horizon", "Regret against the horizon", settings(horizons, (UCBVI_PRM, UCRL2_L, UCRL2_B))),
        Experiment(
            "river-length", "Regret against the number of observations", settings(rivers, (UCBVI_PRM, UCRL2_L, UCRL2_B))
        ),
    ]


def candidates() -> tuple[LearnerChoice, ...]:
    """Return the paper's candidates for the exploration coefficients."""
    return tuple(
        LearnerChoice.of(name, f"{name} {scale:g}", bonus_scale=scale)
        for name, scales in CANDIDATES.items()
        for scale in scales
    )


def tuning(
    num_runs: int = 4,
    num_episodes: int = 10_000,
    seed: int = 0,
    choices: tuple[LearnerChoice, ...] = (),
    tasks: Sequence[TaskText] = (),
) -> Experiment:
    """Return the search for parameters: every candidate on tasks, or on the paper's, with equal budgets.

    Its seeds differ from those of reported runs.
    """
    tasks = tasks or [TaskText.builtin(name) for name in (*RIVERSWIMS, *WAREHOUSES)]
    return Experiment(
        TUNING,
        "The search for parameters" if choices else "The search for the exploration coefficients",
        tuple(Setting(task, choices or candidates(), num_runs, num_episodes, seed, is_tuning=True) for task in tasks),
    )


def select(catalogue: list[Experiment], only: Iterable[str]) -> list[Experiment]:
    """Keep the experiments or single settings that are named; all of them when none is.

    A setting that several experiments share is taken from the first.
    """
    wanted = list(only)
    names = [name for exp in catalogue for name in (exp.name, *(setting.name for setting in exp.settings))]
    for name in wanted:
        if name not in names:
            raise unknown_name("experiment or setting", name, names)
    if not wanted:
        return catalogue
    selection = []
    for experiment in catalogue:
        kept = tuple(s for s in experiment.settings if experiment.name in wanted or s.name in wanted)
        wanted = [name for name in wanted if name not in {setting.name for setting in kept}]
        if kept:
            selection.append(Experiment(experiment.name, experiment.purpose, kept))
    return selection
