"""The likely loss of a plan: Bayesian, beside the proven bound of its certificate.

Environments are drawn from the posterior, and V* − V^π̂ is computed in each. With n draws, the likely loss at level c is
the ⌈c·(n + 1)⌉-th smallest. Why this one: given the data, the true environment is a draw like the others if the prior
is right, so the true loss is at most the k-th smallest of n with probability at least k/(n + 1). That covers the
Monte-Carlo error. An interval between two order statistics says how far the number may be from the posterior's own
quantile.

It needs no correction when data is collected until the number is small: the posterior given the data is the same
whatever rule ended the collection. All of this is under the prior; nothing is proven about an environment that is
unlikely under the prior.

    p(·|o, a) ~ Dirichlet(α/N + N(o, a, ·)),   first observation ~ Dirichlet(α/O + its counts),   α = 1,

independently, over N successors: the O observations and, where episodes may end, the end in each of them. It is the
sparse prior of ``praemia.learners.psrl``, with its draw. A pair never visited is drawn from the prior, and every pair
gives some mass to successors that it was never seen to have.

Where the data knows only the labels of the transitions that were seen (black boxes), the others get labels drawn
uniformly and independently from the distinct labels that the data has, anew in each draw. So a label that was never
seen is treated as impossible.

V* and V^π of one draw are computed in one backward pass over two copies of the machine, on the recursion that
learners plan with: one copy maximises, the other follows the policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ParameterError, require_whole
from praemia.exploration.backward_passes import as_counts, copies_of, empty_memory, exits_of_copies
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import estimated_spec
from praemia.kernels import recursion
from praemia.kernels.plans import Recipe, call_plan, compiled_plan
from praemia.kernels.posterior_draws import draw_kernel, drawn_value
from praemia.kernels.records import NUM_EXITS, Actions, CountArrays, EveryRow, ModelArrays, action_type
from praemia.kernels.recursion import Place, PlanData, SpecArrays
from praemia.kernels.references import by_reference
from praemia.learners.rules import SampleRule
from praemia.learners.workspace import NO_SMALL_INTS, no_support, step_records
from praemia.limits import require_memory
from praemia.machines.labels import Labels, as_labelling
from praemia.machines.machine import RewardMachine
from praemia.simulation.interrupts import interrupts_held
from praemia.tasks.machine_table import MachineTable, continuation_rows

PRIOR = 1.0
OPTIMAL, FOLLOWING = 0, 1
COPIES = 2
DRAWS = 200
LEVEL = 0.95
MAX_DRAWS = 1_000_000

OnDraw = Callable[[int, int], None]  # draws so far, and in total


@dataclass(frozen=True, eq=False)
class LikelyLoss:
    """What a plan loses at most, with a probability under the posterior.

    Attributes
    ----------
    losses : float64[draws], the losses in all draws, ascending. level, seed : as requested.
    labels_drawn : whether transitions never seen had labels drawn from those that the data has.
    never_seen : propositions that the machine reads and no label of the data has; draws treat them as impossible.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim(size=4)
    >>> data = praemia.explore(task, episodes=300, method="uncertainty", seed=0)
    >>> likely = praemia.plan_from(data, task.machine).likely(draws=100, level=0.9)
    >>> likely.draws, likely.level
    (100, 0.9)
    >>> likely.at(0.5) <= likely.loss
    True
    """

    losses: NDArray[np.float64] = field(repr=False)
    level: float
    seed: int
    labels_drawn: bool
    never_seen: tuple[str, ...] = ()

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
        if self.labels_drawn:
            lines.append("labels of transitions never seen are drawn from those that the data has")
        if self.never_seen:
            lines.append(f"never seen, and so taken to be impossible: {', '.join(self.never_seen)}")
        return "\n".join(lines)


def likely_loss(
    dataset: Dataset,
    machine: RewardMachine,
    policy: NDArray[Any],
    *,
    labels: Labels | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
    on_draw: OnDraw | None = None,
) -> LikelyLoss:
    """Return the likely loss of a policy [H, M, O] for a machine; ``labels`` take the place of the dataset's own."""
    require_draws(draws, level)
    posterior = Posterior(dataset, machine, policy, labels, random_numbers(seed))
    losses = posterior.losses(draws, None if on_draw is None else lambda number, _: on_draw(number + 1, draws))
    return LikelyLoss(np.sort(losses), level, seed, posterior.draws_labels, posterior.never_seen)


def random_numbers(seed: int) -> np.random.Generator:
    """Return the generator of a likely loss."""
    return np.random.default_rng([require_whole("seed", seed, 0), 29])


def require_draws(draws: int, level: float = LEVEL) -> None:
    """Refuse a level outside (0, 1), and fewer draws than it needs."""
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level={level!r}; expected a number between 0 and 1")
    if _rank(level, require_whole("draws", draws, 1, MAX_DRAWS)) > draws:
        fewest = math.ceil(level / (1.0 - level) - 1e-9)
        raise ParameterError(f"draws={draws}; a level of {level:g} needs {fewest:,} at least")


def _rank(level: float, draws: int) -> int:
    """Return ⌈c·(n + 1)⌉, tolerating rounding errors just above a whole number."""
    return math.ceil(level * (draws + 1) - 1e-9)


value_in_draw: Any = None  # replaced by PSRL's mean under the kernel that was drawn


def value_of_copy(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return what a pair is worth; the copy FOLLOWING gets −∞ from all actions but the policy's.

    memory.order[h·M + m, o] holds the policy.
    """
    num_states = place.width // COPIES
    copy, m = divmod(place.lane, num_states)
    o, a = divmod(pair, data.counts.pairs.shape[0] // data.counts.states.shape[0])
    if copy == FOLLOWING and data.memory.order[place.step * num_states + m, o] != a:
        return zero - np.inf, zero
    return value_in_draw(zero, data, pair, place)


RECIPE = Recipe(
    (
        ("ASKS_UNSEEN", True),
        ("prepare_pair", draw_kernel),
        ("begin_step", recursion.nothing_per_step),
        ("pair_value", value_of_copy),
    ),
    (("value_in_draw", drawn_value),),
)


class Posterior:
    """The posterior of an environment, for a machine and a policy [H, M, O] to try in it.

    ``never_seen`` are the propositions that the machine reads and no draw can have, because no label seen has them.
    """

    def __init__(
        self,
        dataset: Dataset,
        machine: RewardMachine,
        policy: NDArray[Any],
        labels: Labels | None,
        rng: np.random.Generator,
    ) -> None:
        self._dataset, self._rng = dataset, rng
        are_drawn = labels is None and not dataset.labels_known
        unseen = machine.reads - dataset.labelling.propositions() if are_drawn else frozenset()
        self.never_seen = tuple(sorted(unseen))
        self._labels = _LabelsOfDraws(dataset, machine.in_unit_range, labels)
        self._span = machine.reward_range.span
        self._starts = PRIOR / dataset.num_observations + dataset.first_counts
        self._data = self._plan_data(policy)
        shape = (len(policy), dataset.num_observations, COPIES * machine.num_states)
        self._greedy: Actions = np.zeros(shape, dtype=action_type(dataset.num_actions))
        self._arguments = by_reference(self._data), rng, self._greedy
        self._kernel = compiled_plan(RECIPE, 1, self._arguments)

    @property
    def draws_labels(self) -> bool:
        """Whether some transitions have labels that are not known."""
        return len(self._labels.unknown) > 0

    def draw(self) -> float:
        """Draw an environment; return V* − V^π at its start, in the user's units."""
        self._labels.draw(self._rng)
        call_plan(self._kernel, *self._arguments)
        gaps = np.maximum(0.0, self.values(OPTIMAL) - self.values(FOLLOWING))
        weights = self._rng.standard_gamma(self._starts)
        return self._span * float(ordered_sum(weights * gaps) / ordered_sum(weights))

    def losses(self, draws: int, after: Callable[[int, float], None] | None = None) -> NDArray[np.float64]:
        """Draw some environments; return their losses. ``after`` is called with each draw's number and loss."""
        losses = np.empty(draws)
        with interrupts_held() as raise_interrupt:
            for number in range(draws):
                losses[number] = self.draw()
                raise_interrupt()
                if after is not None:
                    after(number, float(losses[number]))
        return losses

    def values(self, copy: int) -> NDArray[np.float64]:
        """Return V_0 of the last draw as [O], in the initial machine state: OPTIMAL, or FOLLOWING the policy."""
        column = copy * self._labels.table.num_states + self._labels.table.initial
        return self._data.memory.tables[0, : self._dataset.num_observations, column]

    @property
    def best_policy(self) -> Actions:
        """A policy [H, M, O] that is optimal in the last draw."""
        return np.ascontiguousarray(self._greedy[:, :, : self._labels.table.num_states].transpose(0, 2, 1))

    def _plan_data(self, policy: NDArray[Any]) -> PlanData:
        """Return the arrays that the pass works on."""
        dataset, found, horizon = self._dataset, self._labels, len(policy)
        num_pairs, width = dataset.visits.size, COPIES * found.table.num_states
        spec = estimated_spec(dataset, found.machine, horizon, found.labelling)
        rule = SampleRule(prior="observations", weight=PRIOR)
        needs, counts = rule.needs(spec), _counts(dataset, found.every)
        memory = empty_memory(horizon, num_pairs, dataset.num_actions, len(found.every.rows), width)._replace(
            by_pair=np.zeros((num_pairs, needs.by_pair)),
            by_successor=np.zeros((len(counts.successors), needs.by_successor)),
            drawn=np.zeros((num_pairs, needs.drawn), dtype=np.int32),
            order=np.ascontiguousarray(policy, dtype=np.int32).reshape(-1, dataset.num_observations),
        )
        pays = (1.0,) * COPIES
        layers, exits = copies_of(found.table, pays), exits_of_copies(spec.exits, pays)
        steps = step_records(np.full(horizon + 1, np.inf), 1.0)
        known = SpecArrays(
            layers, layers.paid, steps, exits, no_support(layers), found.every, NO_SMALL_INTS, NO_SMALL_INTS
        )
        return PlanData(counts, known, memory, np.array(rule.kernel_constants(spec)))


class _LabelsOfDraws:
    """The labels of all transitions as continuation rows; those that are not known are drawn for each environment.

    Attributes
    ----------
    unknown : the flat places (o·A + a)·N + o' of the successors whose labels are not known; O + o' is the end in o'.
    """

    def __init__(self, dataset: Dataset, machine: RewardMachine, labels: Labels | None) -> None:
        size, num_pairs, count = dataset.num_observations, dataset.visits.size, dataset.num_successors
        require_memory(48 * num_pairs * count, "a label for every (o, a, o')")
        self.labelling = dataset.labelling if labels is None else as_labelling(labels)
        numbers, sets = self.labelling.of(*(axis.ravel() for axis in np.indices((size, dataset.num_actions, size))))
        numbers = numbers.reshape(num_pairs, size)
        is_known = np.full(numbers.shape, labels is not None or dataset.labels_known)
        is_known[dataset.pairs, dataset.successors] = True
        self.machine = machine.over(sorted(frozenset().union(*sets)))
        self.table = MachineTable.of(self.machine, sets)
        self.unknown = np.flatnonzero(~np.tile(is_known, count // size))
        seen = np.unique(numbers[dataset.pairs, dataset.successors])
        # Every label that may be drawn needs a row for every successor that it may be drawn for.
        more = np.repeat(seen, count) if len(self.unknown) else np.zeros(0, dtype=np.int64)
        all_labels = np.concatenate((np.tile(numbers, count // size).ravel(), more)).astype(np.int32)
        # In which observation an episode ended does not matter.
        targets = np.minimum(np.arange(count), size).astype(np.int32)
        all_targets = np.tile(targets, len(all_labels) // count)
        acts = ~self.table.inert[all_labels]
        rows, extra_rows = continuation_rows(all_labels, all_targets, acts, size)
        self._choices = rows[num_pairs * count :].reshape(-1, count)  # [labels seen, N]
        self._targets = self.unknown % count
        self.every = EveryRow.of(rows[: num_pairs * count].reshape(num_pairs, count).copy(), extra_rows, size)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw the labels that are not known."""
        if len(self.unknown):
            chosen = rng.integers(len(self._choices), size=len(self.unknown))
            self.every.own.reshape(-1)[self.unknown] = self._choices[chosen, self._targets]


def _counts(dataset: Dataset, every: EveryRow) -> CountArrays:
    """Write the data as a learner's counts."""
    rows, extra_rows = every.own[dataset.pairs, dataset.targets], every.rows[dataset.num_observations + NUM_EXITS :]
    targets, no_labels = dataset.targets.astype(np.int32), np.zeros(0, dtype=np.int32)
    weights = dataset.counts.astype(np.float64)
    return as_counts(dataset.visits, ModelArrays(dataset.indptr, targets, weights, no_labels, rows, extra_rows))
