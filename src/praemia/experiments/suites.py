"""Suites: benchmarks of the literature, by their own protocols, with the figures that were published.

    office        Trapasso, Iocchi and Patrizi (2026, arXiv 2512.14617): 17 settings with moves that slip
    office-jair   Toro Icarte et al. (2022): four errands in the first of these buildings, deterministic
    craft         Toro Icarte et al. (2022): task 10, the longest, on ten maps drawn by seed, deterministic

All have a discount of .9, and episodes that end with the machine or on a plant. Published episodes also end after 1,000
steps; here earlier, at the first horizon H after which less than 10⁻⁴ of the optimum can be earned: plans for fewer
steps are faster. A run has ten times the steps that QR-Max needed with the machine known, or as many as
were published; the budget is the same for all learners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from praemia import envs
from praemia.errors import unknown_name
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.learners.qr_max import PUBLISHED_THRESHOLD, as_released
from praemia.tasks.task import Task

PREFIX = "suite-"
NUM_RUNS = 10
SHARES, PLAYED_SHARE = (0.9, 0.95, 0.99), 0.9  # of the optimum: of single plans, and of what is played
LEARNED_SHARE = 0.95  # of learned policies
TEST_EVERY, TEST_LEVEL = 1_000, 0.1  # when the published t test is made, and from which p on a policy passes
QR_MAX, QR_MAX_TOLD, R_MAX, R_MAX_TOLD = "QR-Max", "QR-Max, told the machine", "R-Max", "R-Max, told the machine"
Q_LEARNING, CRM = "Q-learning", "CRM"


class Benchmark(NamedTuple):
    """A setting of a suite: its task and horizon, the steps of a run, and those that were published, by method."""

    task: str
    horizon: int
    num_steps: int
    published: Mapping[str, int]


@dataclass(frozen=True)
class Suite:
    """Benchmarks that are reported together.

    Attributes
    ----------
    choices : how each learner plays a task of this suite, by its name; others play at their defaults.
    source : where the published figures are from. criterion : what they count.
    """

    name: str
    purpose: str
    benchmarks: tuple[Benchmark, ...]
    learners: tuple[str, ...]
    choices: Callable[[Task], Mapping[str, tuple[LearnerChoice, ...]]]
    source: str
    criterion: str
    test_every: int | None = TEST_EVERY


# For each building and errand the horizon, and the steps published, in the order of ``_METHODS``: Table 4 of the paper.
_METHODS = (Q_LEARNING, CRM, R_MAX, QR_MAX, R_MAX_TOLD, QR_MAX_TOLD)
_TABLE_4 = {
    (1, 1): (111, 128_973, 66_693, 59_691, 30_376, 21_777, 10_964),
    (1, 2): (135, 201_835, 129_804, 77_797, 27_619, 26_232, 9_339),
    (1, 3): (135, 355_070, 122_827, 155_347, 30_325, 28_682, 6_087),
    (1, 4): (138, 469_313, 135_119, 103_211, 29_950, 26_953, 6_062),
    (1, 5): (180, 1_267_449, 231_870, 287_066, 38_312, 30_238, 4_107),
    (2, 1): (143, 334_894, 225_491, 213_942, 83_593, 74_250, 28_729),
    (2, 2): (147, 326_306, 220_334, 88_636, 56_445, 49_577, 19_214),
    (2, 3): (157, 723_051, 280_763, 316_672, 62_583, 63_066, 12_415),
    (2, 4): (170, 889_842, 249_912, 196_334, 61_775, 47_873, 12_445),
    (2, 5): (224, 2_613_669, 438_213, 723_441, 83_076, 65_523, 8_396),
    (3, 1): (151, 501_559, 297_975, 201_731, 98_663, 73_832, 33_815),
    (3, 2): (159, 553_517, 353_658, 170_926, 99_952, 66_949, 33_853),
    (3, 3): (164, 1_105_417, 406_122, 388_562, 110_808, 111_349, 21_856),
    (3, 4): (181, 1_466_896, 449_594, 495_878, 112_165, 107_115, 21_869),
    (3, 5): (264, 5_471_046, 891_160, 1_581_301, 159_597, 128_950, 14_717),
}
# Table 6 has two more settings, of building, errand and horizon.
_TABLE_6 = {
    (0, 0, 142): {QR_MAX: 14_483, QR_MAX_TOLD: 4_150, R_MAX: 49_759, CRM: 162_040, "PSRL": 88_437, "OPSRL": 128_188},
    (4, 6, 179): {QR_MAX: 20_150, QR_MAX_TOLD: 5_630, R_MAX: 82_000, CRM: 9_910_340},
}


def _office(map: int, exp: int, horizon: int, published: Mapping[str, int]) -> Benchmark:
    return Benchmark(f"office-map{map}-exp{exp}", horizon, 10 * published[QR_MAX_TOLD], published)


def _office_choices(task: Task) -> Mapping[str, tuple[LearnerChoice, ...]]:
    """Return learners as published: a threshold of 39, which the released code, told the machine, reaches sooner."""
    going_on = task.num_machine_states - len(task.done_states)
    at_once: dict[str, Any] = {"replan": "known-at-once"}
    tables: dict[str, Any] = {"learning_rate": 0.1, "discount": 0.9, "epsilon": 0.1, "initial_value": 2.0}
    return {
        "qr-max": (
            LearnerChoice.of("qr-max", QR_MAX_TOLD, known_after=as_released(going_on), **at_once),
            LearnerChoice.of("qr-max", QR_MAX, known_after=PUBLISHED_THRESHOLD, learn_machine=True, **at_once),
        ),
        "q-learning": (LearnerChoice.of("q-learning", Q_LEARNING, **tables),),
        "crm": (LearnerChoice.of("crm", CRM, **tables),),
    }


def _choices_without_chance(task: Task) -> Mapping[str, tuple[LearnerChoice, ...]]:
    """Return learners for deterministic moves: one visit tells what a pair does."""
    tables: dict[str, Any] = {"learning_rate": 0.5, "discount": 0.9, "epsilon": 0.1, "initial_value": 2.0}
    return {
        "qr-max": (LearnerChoice.of("qr-max", "QR-Max at 1 visit", known_after=1, replan="known-at-once"),),
        "q-learning": (LearnerChoice.of("q-learning", Q_LEARNING, **tables),),
        "crm": (LearnerChoice.of("crm", CRM, **tables),),
    }


# Without chance: horizons by task, the steps of the published runs, and those until the criterion was met.
_JAIR_HORIZONS, _JAIR_STEPS = {1: 102, 2: 116, 3: 116, 4: 117}, 100_000
_JAIR_PUBLISHED = {3: {Q_LEARNING: 50_000, CRM: 22_000, "CRM with shaping": 18_000}}  # t3 was also played alone
_CRAFT_HORIZONS, _CRAFT_STEPS = (173, 149, 160, 127, 142, 123, 141, 161, 135, 175), 2_000_000  # of the seeds 0 … 9
_JAIR_SOURCE = "Toro Icarte, Klassen, Valenzano and McIlraith 2022 (JAIR 73), result files"
_JAIR_CRITERION = "steps until the median reward per step, at ε = .1, is .95 of the optimum's"
SUITES = {
    "office": Suite(
        "office",
        "The office of QR-Max, with moves that slip",
        (
            *(_office(*key, row[0], dict(zip(_METHODS, row[1:], strict=True))) for key, row in _TABLE_4.items()),
            *(_office(*key, row) for key, row in _TABLE_6.items()),
        ),
        ("headroom", "qr-max"),
        _office_choices,
        "Trapasso, Iocchi and Patrizi 2026 (arXiv 2512.14617), Tables 4 and 6",
        "steps until a t test over 100 sampled episodes, every 1,000 steps, has p > .1 against value iteration",
    ),
    "office-jair": Suite(
        "office-jair",
        "The deterministic office",
        tuple(
            Benchmark(f"office-jair-t{number}", horizon, _JAIR_STEPS, _JAIR_PUBLISHED.get(number, {}))
            for number, horizon in _JAIR_HORIZONS.items()
        ),
        ("headroom", "crm"),
        _choices_without_chance,
        _JAIR_SOURCE,
        _JAIR_CRITERION,
        test_every=None,
    ),
    "craft": Suite(
        "craft",
        "The longest craft task, on large deterministic maps",
        tuple(
            Benchmark(f"craft-{seed}-task10", horizon, _CRAFT_STEPS, {CRM: 770_000, "CRM with shaping": 710_000})
            for seed, horizon in enumerate(_CRAFT_HORIZONS)
        ),
        ("headroom", "crm"),
        _choices_without_chance,
        f"{_JAIR_SOURCE}; on maps of theirs",
        _JAIR_CRITERION,
        test_every=None,
    ),
}


SUITE_NAMES = tuple(f"{PREFIX}{name}" for name in SUITES)  # of experiments


def find(name: str) -> Suite:
    """Return a suite by name."""
    if name not in SUITES:
        raise unknown_name("suite", name, SUITES)
    return SUITES[name]


def suite_of(experiment: str) -> Suite | None:
    """Return the suite that an experiment's name stands for, if it does."""
    return SUITES.get(experiment.removeprefix(PREFIX)) if experiment.startswith(PREFIX) else None


def suite_experiment(
    suite: Suite, players: Iterable[str | LearnerChoice] = (), num_runs: int | None = None, seed: int = 0
) -> Experiment:
    """Return the runs of a suite: of its own learners, or of others. One that is named plays as was published."""
    chosen = tuple(players) or suite.learners
    settings = tuple(_setting(suite, item, chosen, num_runs, seed) for item in suite.benchmarks)
    return Experiment(f"{PREFIX}{suite.name}", suite.purpose, settings)


def _setting(
    suite: Suite, item: Benchmark, players: Iterable[str | LearnerChoice], num_runs: int | None, seed: int
) -> Setting:
    own, choices = suite.choices(envs.make(item.task)), list[LearnerChoice]()
    for player in players:
        if isinstance(player, str):
            choices += own.get(player) or (LearnerChoice.of(player),)
        else:
            choices.append(player)
    text = TaskText.builtin(item.task)
    return Setting(
        replace(text, text=f"{text.text}horizon: {item.horizon}\n"),
        tuple(choices),
        NUM_RUNS if num_runs is None else num_runs,
        None,
        seed,
        num_steps=item.num_steps,
        test_every=suite.test_every,
    )
