"""Compare learners in a black box by their returns: all that can be known there, and all of it sampled."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.activity import display
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.learners import Learner
from praemia.planning.exact import evaluate
from praemia.planning.sampled import SampledEvaluation
from praemia.report.cards import Card
from praemia.report.charts import returns_chart
from praemia.report.figures import chart_figure
from praemia.simulation import Run, simulate
from praemia.statistics.intervals import Interval, sum_interval
from praemia.text_tables import Table, number, plural

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

MEANS = ("learner", "mean return", "95% low", "95% high", "policy at the end", "95% low", "95% high", "seconds per run")
DIFFERENCES = ("first", "second", "difference at the end", "95% low", "95% high", "who is higher")


@dataclass(frozen=True, eq=False)
class ReturnComparison:
    """The runs of several learners in a black box, compared by their returns: everything in it is sampled.

    Attributes
    ----------
    task : the name of the black box; runs : for each learner its runs, in the order of their seeds.
    evaluations : for each learner the evaluations of the policies that the runs have learned. Those of one seed played
        the same episodes.
    """

    task: str
    runs: dict[str, tuple[Run, ...]]
    evaluations: dict[str, tuple[SampledEvaluation, ...]]

    def _final(self, title: str) -> NDArray[np.float64]:
        return np.array([own.value for own in self.evaluations[title]])

    @property
    def table(self) -> Table:
        """For each learner the mean return of all episodes, and of its policies at the end, with 95% intervals."""
        rows, finals = [], {title: float(self._final(title).mean()) for title in self.runs}
        for title, runs in self.runs.items():
            means = np.array([run.returns.mean() for run in runs])
            both = (sum_interval(values[None], [1]) for values in (means, self._final(title)))
            cells = [number(x) for own in both for x in (own.estimate, own.low, own.high)]
            rows.append((title, *cells, f"{np.mean([run.seconds for run in runs]):.2f}"))
        best = max(finals.values())
        clear = [i for i, value in enumerate(finals.values()) if value == best]
        return Table(MEANS, rows, strong=clear if len(clear) == 1 and self._is_clear(clear[0]) else ())

    def _is_clear(self, place: int) -> bool:
        """Tell whether a learner's policies are better than all others', by the intervals of the differences."""
        titles = list(self.runs)
        others = [title for title in titles if title != titles[place]]
        return bool(others) and all(self._difference(titles[place], other).low > 0.0 for other in others)

    def _difference(self, first: str, second: str) -> Interval:
        return sum_interval(np.stack((self._final(first), self._final(second))), [1, -1])

    @property
    def differences(self) -> Table:
        """The value of each learner's policies less that of every later one's, seed by seed, with its 95% interval."""
        rows = []
        for first, second in combinations(self.runs, 2):
            own = self._difference(first, second)
            higher = first if own.low > 0.0 else second if own.high < 0.0 else "not clear"
            rows.append((first, second, *map(number, (own.estimate, own.low, own.high)), higher))
        return Table(DIFFERENCES, rows)

    @property
    def figure(self) -> Figure:
        """The moving mean of the returns over episodes: means over runs, with bands that are their 95% intervals."""
        return chart_figure(returns_chart(self.runs), f"Returns in {self.task}")

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run."""
        import pandas

        return pandas.DataFrame(
            {
                "learner": title,
                "seed": run.seed[-1],
                "mean_return": run.returns.mean(),
                "policy_value": own.value,
                "seconds": run.seconds,
            }
            for title, runs in self.runs.items()
            for run, own in zip(runs, self.evaluations[title], strict=True)
        )

    @property
    def _facts(self) -> list[str]:
        first, own = next(iter(self.runs.values())), next(iter(self.evaluations.values()))
        episodes = plural(first[0].num_episodes, "episode")
        return [plural(len(first), "run"), episodes, f"policies at the end: {own[0].num_episodes} episodes each"]

    def _repr_html_(self) -> str:
        tables = [self.table, self.differences] if len(self.runs) > 1 else [self.table]
        notes = ["Returns are sampled: a black box has no exact values."]
        return Card(f"Learners on {self.task}", self._facts, {"returns": lambda: self.figure}, tables, notes).html

    def __str__(self) -> str:
        return f"{self.table}\n{self.differences}" if len(self.runs) > 1 else str(self.table)

    def __repr__(self) -> str:
        return f"ReturnComparison({', '.join(self.runs)} on {self.task}: {', '.join(self._facts)})"


def compared_by_returns(
    source: BlackBox | Callable[[], BlackBox],
    players: Mapping[str, Learner],
    num_episodes: int,
    seeds: Sequence[tuple[int, ...]],
    jobs: int,
) -> ReturnComparison:
    """Play all runs in a black box, one after the other or in processes, and evaluate what they have learned."""
    box = source if isinstance(source, BlackBox) else source()
    if not isinstance(box, BlackBox):
        raise ParameterError(f"the function made {box!r}; expected a BlackBox")
    work = [(learner, num_episodes, seed) for seed in seeds for learner in players.values()]
    found = []
    with display() as progress:
        report = progress.count("runs")
        if jobs == 1:
            results: Iterable[Any] = (_in_box(box, *item) for item in work)
        else:
            make = source if callable(source) else _maker(box)
            pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
            results = pool.map(partial(_in_made_box, make), *zip(*work, strict=True))
        for result in results:
            found.append(result)
            report(len(found), len(work))
    runs, evaluations = {}, {}
    for place, title in enumerate(players):
        own = found[place :: len(players)]
        runs[title] = tuple(replace(run, title=title) for run, _ in own)
        evaluations[title] = tuple(evaluation for _, evaluation in own)
    return ReturnComparison(box.name, runs, evaluations)


def _in_box(box: BlackBox, learner: Learner, num_episodes: int, seed: tuple[int, ...]) -> tuple[Run, SampledEvaluation]:
    """Play a run, and evaluate its policy in the episodes of its number, which are the same for all learners."""
    run = simulate(box, learner, num_episodes, seed)
    return run, evaluate(box, run, seed=seed[-1])


def _in_made_box(make: Callable[[], BlackBox], *work: Any) -> tuple[Run, SampledEvaluation]:
    return _in_box(make(), *work)


def _maker(box: BlackBox) -> Callable[[], BlackBox]:
    """Return a function that makes a black box again in another process."""
    make = None if box.env.spec is None else partial(_made_again, box.env.spec, _parts(box))
    try:
        pickle.dumps(make)
    except Exception:  # anything that a user's function holds may refuse
        make = None
    if make is None:
        raise ParameterError(
            f"jobs: {box.name!r} cannot be made again in another process; give compare a function in a file that "
            "returns the BlackBox, or jobs=1"
        )
    return make


def _parts(box: BlackBox) -> dict[str, Any]:
    names = ("labels", "machine", "horizon", "encode", "discount", "until_done", "name")
    size = {} if box.encode is None else {"num_observations": box.num_observations}
    return {name: getattr(box, name) for name in names} | size


def _made_again(spec: Any, parts: dict[str, Any]) -> BlackBox:
    import gymnasium

    return BlackBox(gymnasium.make(spec), **parts)
