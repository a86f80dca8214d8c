"""The likely loss of a plan: Bayesian, beside the proven bound of its certificate.

Environments are sampled from the posterior, and V* − V^π̂ is computed in each. With n samples, the likely loss at level
c is the ⌈c·(n + 1)⌉-th smallest: if the prior is right, the true environment is a sample like the others given the
data, so the true loss is at most the k-th smallest of n with probability at least k/(n + 1). That covers the
Monte-Carlo error. An interval between two order statistics holds the quantile of the posterior.

It needs no correction when data is collected until the likely loss is small: the posterior given the data does not
depend on the rule that ended the collection. All of this is under the prior; nothing is proven about an environment
that is unlikely under it.

    p(·|o, a) ~ Dirichlet(α/N + N(o, a, ·)),   first observation ~ Dirichlet(α/O + its counts),   α = 1,

independently, over N successors: the O observations and, where episodes may end, the end in each of them. It is the
sparse prior of ``praemia.learners.psrl``. A pair never visited is sampled from the prior, and every pair gives some
mass to successors that were never seen.

Where only the labels of the transitions that were seen are known (black boxes), those of the others are sampled
uniformly and independently from the distinct labels of the data, anew in each sample. So a label that was never seen is
treated as impossible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia._support.activity import OnProgress
from praemia._support.arithmetic import ordered_sum
from praemia._support.limits import require_memory
from praemia.errors import ParameterError, require_whole
from praemia.exploration.confidence import require_one_label
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.kernels.posteriors import Seen, new_sample, sample_model
from praemia.kernels.records import Actions, ModelArrays
from praemia.learners.psrl import dirichlet
from praemia.machines.labels import Label
from praemia.planning.exact import evaluate, solve
from praemia.simulation.loop import interrupts_held
from praemia.tasks.machine_table import continuation_rows
from praemia.tasks.model import Model

PRIOR = 1.0
DRAWS = 200
LEVEL = 0.95
MAX_DRAWS = 1_000_000


@dataclass(frozen=True, eq=False)
class LikelyLoss:
    """The loss that a plan stays below with a given probability under the posterior.

    Attributes
    ----------
    losses : float64[draws], the losses in all samples, ascending. level, seed : as passed.
    labels_sampled : whether the labels of transitions never seen were sampled from those of the data.
    never_seen : propositions that the machine reads and no label of the data has; samples treat them as impossible.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim(size=4)
    >>> data = praemia.explore(task, num_episodes=300, seed=0)
    >>> likely = praemia.plan_from(data, task.machine).likely(draws=100, level=0.9)
    >>> likely.draws, likely.level
    (100, 0.9)
    >>> likely.at(0.5) <= likely.loss
    True
    """

    losses: NDArray[np.float64]
    level: float
    seed: int
    labels_sampled: bool
    never_seen: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"LikelyLoss(at most {self.loss:.4g} with probability {self.level:g}, from {self.draws:,} draws)"

    @property
    def draws(self) -> int:
        return len(self.losses)

    @property
    def loss(self) -> float:
        """The likely loss."""
        return self.at(self.level)

    @property
    def mean(self) -> float:
        """The posterior mean of the loss."""
        return float(ordered_sum(self.losses)) / self.draws

    def at(self, level: float) -> float:
        """Return the likely loss at another level, from the same draws."""
        require_draws(self.draws, level)
        return float(self.losses[_rank(level, self.draws) - 1])

    @property
    def monte_carlo(self) -> tuple[float, float]:
        """An interval that holds the posterior's quantile with probability 0.95; its end is ∞ with too few draws."""
        from scipy.stats import binom

        first, last = (int(binom.ppf(tail, self.draws, self.level)) for tail in (0.025, 0.975))
        low = float(self.losses[first - 1]) if first > 0 else 0.0
        return low, float(self.losses[last]) if last < self.draws else math.inf

    def text(self) -> str:
        """Describe the likely loss in a few lines."""
        low, high = self.monte_carlo
        lines = [
            f"likely loss (Bayesian): with probability {self.level:g} under the posterior the plan loses at most "
            f"{self.loss:.4g}",
            f"{self.draws:,} draws, seed {self.seed}; Monte-Carlo error: {low:.4g} … {high:.4g}; "
            f"prior: Dirichlet of total weight {PRIOR:g} over all observations",
        ]
        if self.labels_sampled:
            lines.append("labels of transitions never seen are sampled from those of the data")
        if self.never_seen:
            lines.append(f"never seen, and so taken to be impossible: {', '.join(self.never_seen)}")
        return "\n".join(lines)


def likely_loss(
    estimate: Estimate,
    policy: Actions,
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> LikelyLoss:
    """Return the likely loss of a policy [H, M, O]; ``on_progress`` is called with the draws so far and in total."""
    require_draws(draws, level)
    require_one_label(estimate.dataset, "a likely loss")
    posterior = Posterior(estimate, seed)
    losses = np.sort(posterior.losses(policy, draws, on_progress))
    draws_labels = len(posterior.unknown) > 0
    return LikelyLoss(losses, level, seed, draws_labels, estimate.never_seen if draws_labels else ())


def require_draws(draws: int, level: float = LEVEL) -> None:
    """Refuse a level outside (0, 1), and fewer draws than it needs."""
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level={level!r}; expected a number between 0 and 1")
    if _rank(level, require_whole("draws", draws, 1, MAX_DRAWS)) > draws:
        fewest = math.ceil(level / (1.0 - level) - 1e-9)
        raise ParameterError(f"draws={draws}; a level of {level:g} needs {fewest:,} at least")


def _rank(level: float, draws: int) -> int:
    """Return ⌈c·(n + 1)⌉, tolerating rounding errors just above an integer."""
    return math.ceil(level * (draws + 1) - 1e-9)


class Posterior:
    """The posterior of an environment, from which models are sampled.

    Attributes
    ----------
    model : the one sampled last, in the unit range.
    unknown : the flat places (o·A + a)·N + o' of the successors whose labels are not known; O + o' is the end in o'.
    """

    def __init__(self, estimate: Estimate, seed: int) -> None:
        dataset, spec = estimate.dataset, estimate.spec
        size, num_pairs, count = dataset.num_observations, dataset.visits.size, dataset.num_successors
        require_memory(48 * num_pairs * count, "a label for every (o, a, o')")
        self._rng = np.random.default_rng([require_whole("seed", seed, 0), 29])
        self._span = estimate.machine.reward_range.span
        self._starts = PRIOR / size + dataset.first_counts
        numbers, sets, is_known = _labels(dataset)
        table = spec.table_on(sets)
        self.unknown = np.flatnonzero(~np.tile(is_known, count // size))
        # Every label that may be sampled needs a row for every successor.
        more = np.repeat(np.unique(dataset.labels), count) if len(self.unknown) else np.zeros(0, dtype=np.int64)
        labels = np.concatenate((np.tile(numbers, count // size).ravel(), more)).astype(np.int32)
        # In which observation an episode ended does not matter.
        targets = np.tile(np.minimum(np.arange(count), size).astype(np.int32), len(labels) // count)
        rows, extra_rows = continuation_rows(labels, targets, ~table.has_no_effect[labels], size)
        self._choices = rows[num_pairs * count :].reshape(-1, count)  # [labels seen, N]
        self._rows = rows[: num_pairs * count].reshape(num_pairs, count).copy()
        counts = dataset.counts.astype(np.float64)
        self._seen = Seen(dataset.indptr, counts, dataset.targets.astype(np.int32), self._rows)
        self._prior = dirichlet(PRIOR, count)
        self._sampled = new_sample(self._seen, self._prior)
        edges, nothing = self._sampled.edges, np.zeros(0, dtype=np.int32)  # planning looks at rows alone
        arrays = ModelArrays(edges.start, nothing, edges.weights, nothing, edges.rows, extra_rows)
        start_probs = self._starts / ordered_sum(self._starts)
        self.model = Model(arrays, table, start_probs, spec.exits, spec.discount)

    def draw(self) -> Model:
        """Sample a model; the one before is overwritten."""
        if len(self.unknown):
            labels = self._rng.integers(len(self._choices), size=len(self.unknown))
            self._rows.reshape(-1)[self.unknown] = self._choices[labels, self.unknown % self._choices.shape[1]]
        sample_model(self._seen, self._prior, self._rng, self._sampled)
        weights = self._rng.standard_gamma(self._starts)
        self.model.start_probs[:] = weights / ordered_sum(weights)
        return self.model

    def losses(self, policy: Actions, draws: int, on_progress: OnProgress | None = None) -> NDArray[np.float64]:
        """Sample some models; return V* − V^π of a policy [H, M, O] in each, in the user's units."""
        losses = np.empty(draws)
        with interrupts_held() as raise_interrupt:
            for number in range(draws):
                model = self.draw()
                best, own = solve(model, keep_values=False), evaluate(model, policy, keep_values=False)
                losses[number] = self._span * max(0.0, best.value - own.value)
                raise_interrupt()
                if on_progress is not None:
                    on_progress(number + 1, draws)
        return losses


def _labels(dataset: Dataset) -> tuple[NDArray[np.int32], list[Label], NDArray[np.bool_]]:
    """Return the label of every (o, a, o') as an index [O·A, O], the labels, and bool[O·A, O], which are known."""
    shape = (dataset.num_observations, dataset.num_actions, dataset.num_observations)
    if dataset.labelling is not None:
        numbers, sets = dataset.labelling.of(*np.indices(shape).reshape(3, -1))
        return numbers.reshape(-1, shape[2]), sets, np.ones((shape[0] * shape[1], shape[2]), dtype=bool)
    some, is_known = np.zeros((2, shape[0] * shape[1], shape[2]), dtype=np.int32)
    some[dataset.pairs, dataset.successors], is_known[dataset.pairs, dataset.successors] = dataset.labels, 1
    return some, list(dataset.label_sets), is_known > 0
