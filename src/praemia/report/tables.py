"""Tables of runs: final regrets, learners in pairs, learners over kinds of task, steps to the optimum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from praemia._support.text_tables import Table, number, plural
from praemia.experiments.jobs import Job
from praemia.statistics.claims import MIN_RUNS, TOO_FEW
from praemia.statistics.intervals import CONFIDENCE, Interval, mean_interval, quotient_interval, sum_interval
from praemia.statistics.measures import Scale, did_not_converge, ratio_by_kind, worst_shares
from praemia.statistics.series import Series, Study, paired, spread
from praemia.statistics.steps import CRITERIA, PLAYED_SHARE, SHARES, steps_of

SUMMARY = (
    *("task", "learner", "runs", "episodes", "regret", "std", "95% low", "95% high"),
    *("per 1,000 episodes at the end", "worst run", "plans", "seconds per run"),
)
PAIRS = ("task", "first", "second", "runs", "difference", "ratio", "95% low", "95% high", "who is lower")
STANDINGS = ("learner", "ratio", "95% low", "95% high", "worst run", "not converged", "seconds")
STEPS = ("task", "learner", *CRITERIA, "published", "seconds")

RETURNS_NOTE = "Returns in black boxes are sampled: these have no exact values."
RETURNS = ("task", "learner", "runs", "episodes", "mean return", "std", "over the last tenth")


def record(series: Series) -> dict[str, Any]:
    """Return what there is to say of some runs as plain data, but for their time; in a black box there is no regret."""
    run, job, returns = series.first, Job.of(series.first), series.returns
    facts = {
        "task": series.task,
        "learner": series.title,
        "name": run.learner,
        "parameters": run.parameters,
        "episodes": series.num_episodes,
        "step_budget": run.step_budget,
        "seed": run.seed[0],
        "discount": run.discount,
        "until_done": run.until_done,
        "task_digest": job.task.digest,
        "digest": job.digest,
        "runs": series.num_runs,
        "steps": float(np.mean([own.steps.sum() for own in series.runs])),
        "plans": series.num_plans,
        "return": returns.tolist(),
        "return_mean": float(returns.mean()),
        "return_std": spread(returns),
        "late_return": series.late_return,
    }
    if run.optimal_value is None:
        return facts
    regret = mean_interval(series.final)
    steps_to = {"steps_to": steps_of(series)} if run.step_budget is not None else {}
    return facts | {
        "regret": series.final.tolist(),
        "regret_mean": regret.estimate,
        "regret_std": spread(series.final),
        "low": regret.low,
        "high": regret.high,
        "late_slope": series.late_slope,
        **steps_to,
    }


def returns_table(members: Iterable[Series]) -> Table:
    """Tabulate what learners earned in black boxes."""
    rows = []
    for series in members:
        numbers = map(number, (series.returns.mean(), spread(series.returns), series.late_return))
        rows.append((series.task, series.title, f"{series.num_runs:,}", f"{series.num_episodes:,}", *numbers))
    return Table(RETURNS, rows)


def _ends(interval: Interval) -> tuple[str, str, str]:
    return number(interval.estimate), number(interval.low), number(interval.high)


def summary_table(rows: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate the final regret of every learner; one that is lower than all others on its task is in bold."""
    lines: list[tuple[str, ...]] = []
    lowest: list[int] = []
    for task, members in rows.items():
        best = clearly_lowest(members)
        lowest += [] if best is None else [len(lines) + best]
        lines += [_summary(task, series) for series in members]
    return Table(SUMMARY, lines, lowest)


def _summary(task: str, series: Series) -> tuple[str, ...]:
    value, low, high = _ends(mean_interval(series.final))
    others = map(number, (series.late_slope, float(series.final.max())))
    sizes = (f"{series.num_runs:,}", f"{series.num_episodes:,}")
    ends = (f"{series.num_plans:.0f}", number(series.seconds))
    return (task, series.title, *sizes, value, number(spread(series.final)), low, high, *others, *ends)


def clearly_lowest(members: Sequence[Series]) -> int | None:
    """Return the place of the series whose regret is lower than each other's, by the 95% intervals of the ratios."""
    best = int(np.argmin([series.final.mean() for series in members]))
    ratios = [quotient_interval(paired((own, members[best])), (1, -1)) for own in members if own is not members[best]]
    return best if ratios and all(ratio.low > 1.0 for ratio in ratios) else None


def pairs_table(rows: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate every two learners of a task that share seeds: first − second and first ÷ second."""
    lines = []
    for task, members in rows.items():
        for first, second in combinations(members, 2):
            samples = paired((first, second))
            if runs := samples.shape[1]:
                difference, ratio = (measure(samples, (1, -1)) for measure in (sum_interval, quotient_interval))
                titles = (second.title, "level", first.title)
                lower = TOO_FEW if runs < MIN_RUNS else Scale.ratio().read(ratio, titles)
                numbers = (number(difference.estimate), *_ends(ratio))
                lines.append((task, first.title, second.title, str(runs), *numbers, lower))
    return Table(PAIRS, lines)


def reference_of(study: Study) -> str:
    """Return the learner that ratios are taken to: UCBVI-PRM, or the first one where it does not play."""
    return next((title for title in study.learners if study.players[title] == "ucbvi-prm"), study.learners[0])


def has_kinds(study: Study) -> bool:
    """Return whether tasks are samples of kinds, and learners are to be compared over them."""
    tasks = study.group.tasks
    return len(set(map(study.group.kind, tasks))) < len(tasks)


def ratios_to_reference(study: Study) -> dict[str, Interval]:
    """Return the ratio over all kinds of each learner to the reference, the lowest first and yardsticks last.

    Learners are left out that have no runs on a task on which others have some.
    """
    reference, tasks = reference_of(study), study.rows
    whole = [title for title in study.players if all((task, title) in study.series for task in tasks)]
    if reference not in whole:
        return {}
    one = Interval(1.0, 1.0, 1.0)
    ratios = {t: one if t == reference else ratio_by_kind(study, t, reference, tasks, CONFIDENCE) for t in whole}
    return dict(sorted(ratios.items(), key=lambda item: (item[0] not in study.learners, item[1].estimate)))


def standings_table(study: Study) -> Table:
    """Tabulate learners over all kinds of task; the first is in bold if its interval and the next do not overlap."""
    lines, ratios = [], ratios_to_reference(study)
    for title, ratio in ratios.items():
        members = [series for series in study.series.values() if series.title == title]
        runs = [run for series in members for run in series.runs]
        worst = number(float(np.median(worst_shares(members))))
        share = f"{sum(map(did_not_converge, runs))}/{len(runs)}"
        seconds = number(float(np.mean([series.seconds for series in members])))
        name = title + ("" if title in study.learners else " (knows part of p)")
        lines.append((name, *_ends(ratio), worst, share, seconds))
    ranked = [ratio for title, ratio in ratios.items() if title in study.learners]
    is_first = len(ranked) > 1 and ranked[0].high < ranked[1].low
    return Table(STANDINGS, lines, (0,) if is_first else ())


def steps_table(study: Study) -> Table:
    """Tabulate steps to the optimum: the median over runs, or more than the budget."""
    return Table(STEPS, [_steps(study, series) for series in study.series.values()])


def _steps(study: Study, series: Series) -> tuple[str, ...]:
    budget = series.first.step_budget or 0
    published = study.group.tasks[series.task].published.get(series.title)
    medians = (_steps_text(own, budget) for own in steps_of(series).values())
    shown = "–" if published is None else f"{published:,}"
    return (series.task, series.title, *medians, shown, number(series.seconds))


def _steps_text(steps: Sequence[float], budget: int) -> str:
    median = float(np.median(steps))
    if math.isnan(median):
        return "–"
    return f"{median:,.0f}" if math.isfinite(median) else f"> {budget:,}"


def main_table(study: Study) -> Table:
    """Return the table that answers what a group asks."""
    if study.is_of_boxes:
        return returns_table(study.series.values())
    if study.group.has_steps:
        return steps_table(study)
    return standings_table(study) if has_kinds(study) else summary_table(study.rows)


def explained(study: Study) -> str:
    """Explain the columns of the main table."""
    if study.is_of_boxes:
        return "Mean return per episode: over all episodes, and over the last tenth of them."
    if study.group.has_steps:
        shares = ", ".join(f"{share:g}" for share in SHARES)
        published = f" Published: {study.group.part.source}." if study.group.part.source else ""
        return (
            f"To {shares}: steps until the exact value of every plan is at least this share of the optimum, for good; "
            f"the median over runs, or more than the budget, which is the same for all learners of a task. Played: "
            f"steps after which each twentieth of the run earns {PLAYED_SHARE:g} of the optimum on average, "
            "exploration included. Learned: the same for the learned policy, the best in the learner's estimate, "
            f"without a bonus. t test: steps until a sampled test cannot tell it from an optimal policy.{published}"
        )
    if has_kinds(study):
        kinds = dict.fromkeys(map(study.group.kind, study.group.tasks))
        tasks = plural(len(study.rows), "task")
        return (
            f"Ratio: to the regret of {reference_of(study)}, a geometric mean over {tasks} in which "
            f"every kind of task ({', '.join(kinds)}) counts once, with the 95% interval for new tasks of the same "
            "kinds. Worst run: ÷ the task's mean, the median over tasks. Not converged: runs that lose, over their "
            "last half, at least half as much per episode as on average, and more than 1% of the optimum."
        )
    return (
        "Regret at the end of the runs: mean, standard deviation, 95% interval of the mean, from 4 runs on. A learner "
        "whose regret is lower than each other's on a task, by the 95% intervals of the ratios, is in bold."
    )


def regret_note(series: Iterable[Series]) -> str:
    """Say in which sense the regret of each learner is exact."""
    is_pathwise: dict[str, bool] = {}
    for own in series:
        is_pathwise[own.title] = is_pathwise.get(own.title, False) or own.first.is_pathwise
    names = ", ".join(title for title, it_is in is_pathwise.items() if it_is)
    exact = "Regret is exact: the value of every policy that was played is computed, not sampled."
    paths = (
        f"The regret of learners that replan within episodes ({names}) is the sum of the losses of the actions "
        "taken (pathwise): unbiased, but not exact."
    )
    if not names:
        return exact
    return paths if all(is_pathwise.values()) else f"{exact} {paths}"
