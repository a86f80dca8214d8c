"""Machines with hidden moves: the next state is drawn, and no reward tells which it is. They are fitted, not counted.

In the warehouse, nothing shows whether the gripper took the item. What an observer can follow there is a belief, and
state merging turns beliefs into more and more states as data comes in. A machine with hidden moves explains the same
episodes with fewer states. Its probabilities are fitted by expectation maximisation (Baum et al. 1970), from many
starts: some made of states that merging found, some random. Edges that the data does not need are dropped, at ½ log N
nats each for N episodes (Schwarz 1978); this also frees fits that are stuck.

How many states there are, and whether moves are hidden, is told by the half of the episodes that was not fitted. A
machine is taken for a larger one only if that half is 1/ρ times as likely, where ρ is ``failure_prob``:

- a fitted machine with a further state must reach that;
- the merged machine, which has more states, must not reach it, with its probabilities from the same half as the fit;
- the fitted machine itself must reach it, against the same states without hidden moves: each symbol then leads to the
  state where it leads most often.

Steps of labels that never matter are left out; they stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm

from praemia.inference.answer import INTERVAL_LEVEL, HeldOut, clopper_pearson
from praemia.inference.state_table import StateTable, walk_from_start
from praemia.inference.traces import Floats, Ints, Traces

MOST_STATES = 4
MAX_ROWS = 1_500  # different episodes to fit; where there are more, all are cut short
STARTS = 10  # of either kind
ROUNDS = ((8, 6), (40, 2))  # steps of each fit, and how many of the fits are followed further
STEPS, STEPS_WITHOUT_EDGE = 300, 40
GOOD_ENOUGH = 1e-3  # nats that a step must gain to be followed by another
OPEN = 0.3  # how much of each edge is left open at the start of a fit
NEGLIGIBLE = 0.03  # of the moves of a symbol: an edge that takes less is dropped while fitting
IMPOSSIBLE = 1e-100
NO_INFORMATION = 1e-3  # what is known of each log-probability beforehand: next to nothing


_Moves: TypeAlias = tuple[NDArray[np.int32], Floats]


class HiddenMoves(NamedTuple):
    """A fitted machine with hidden moves.

    Attributes
    ----------
    flow : float64[M, S, M], how often each symbol is expected to have led from each state to each other.
    intervals : float64[M, S, M, 2], approximate ones for the probability of a reward and move, given state and label.
    held_out : how the machine fitted to one half of the episodes predicts the other half.
    """

    flow: Floats
    intervals: Floats
    held_out: HeldOut


def fit_hidden_moves(traces: Traces, table: StateTable, idle: Ints, failure_prob: float) -> HiddenMoves | None:
    """Fit a machine with hidden moves and fewer states than a merged one; None if nothing speaks for it.

    Parameters
    ----------
    table : the merged machine; idle : the symbols of labels that never matter.
    """
    rng, margin = np.random.default_rng(0), -np.log(failure_prob)
    events = _events(traces, idle)
    halves = traces.split(0.5, rng)
    fitted_to, held_out = (_events(half, idle, events.symbols.shape[1]) for half in halves)
    best, best_score = None, -np.inf
    for num_states in range(2, min(table.num_states - 1, MOST_STATES) + 1):
        probs = _fit(fitted_to, table, num_states, rng)
        score = _log_likelihood(held_out, _smoothed(fitted_to, probs))
        if score > best_score + margin:
            best, best_score = probs, score
    if best is None:
        return None
    larger, unhidden = (_rival_score(fitted_to, held_out, moves) for moves in (table.moves, best.argmax(axis=2)))
    if best_score < max(larger - margin, unhidden + margin):
        return None
    probs = _numbered(_climb(events, best, STEPS)[1])
    _, flow = _expected(_longest_first(traces), _with_idle(probs, idle))
    prediction = _held_out(*halves, best, _smoothed(fitted_to, best), idle)
    return HiddenMoves(flow, _intervals(events, probs, flow), prediction)


def _events(traces: Traces, idle: Ints, longest: int | None = None) -> Traces:
    """Return what matters of episodes; their beginnings, as long as there are not too many different ones."""
    events = traces.without(idle)
    for length in range(events.symbols.shape[1], 0, -1) if longest is None else (longest,):
        beginnings = events.beginnings(length)
        if len(beginnings.lengths) <= MAX_ROWS:
            break
    return _longest_first(beginnings)


def _longest_first(traces: Traces) -> Traces:
    return traces.rows(np.argsort(-traces.lengths, kind="stable"))


def _fit(events: Traces, table: StateTable, num_states: int, rng: np.random.Generator) -> Floats:
    """Fit probabilities [M, S, M] from many starts; those that fit better are followed further. Return the best."""
    counts = walk_from_start(events, table.moves).counts
    starts = [*_merged_starts(events, table, counts, num_states), *_random_starts(events, counts, num_states, rng)]
    for num_steps, kept in ROUNDS:
        fits = sorted((_climb(events, start, num_steps) for start in starts), key=lambda fit: -fit[0])[:kept]
        starts = [probs for _, probs in fits]
    return max((_simplified(events, start) for start in starts), key=lambda fit: fit[0])[1]


def _merged_starts(events: Traces, table: StateTable, counts: Floats, num_states: int) -> Iterator[Floats]:
    """Yield machines made of some states of a merged one; an edge to another state may lead anywhere."""
    often = 1 + np.argsort(-counts[1:].sum(axis=1), kind="stable")
    for others in islice(combinations(often.tolist(), num_states - 1), STARTS):
        states = [0, *others]
        targets = (table.moves[states][:, :, None] == states) + OPEN / num_states
        yield _normalised(events, (counts[states] + 0.5)[:, :, None] * targets)


def _random_starts(events: Traces, counts: Floats, num_states: int, rng: np.random.Generator) -> Iterator[Floats]:
    occurs = (counts.sum(axis=0) > 0)[None, :, None]
    for _ in range(STARTS):
        yield _normalised(events, (rng.gamma(0.5, size=(num_states, counts.shape[1], num_states)) + 1e-3) * occurs)


def _climb(events: Traces, probs: Floats, num_steps: int) -> tuple[float, Floats]:
    """Raise the likelihood step by step, dropping edges that are hardly used; return it, and the probabilities."""
    before = -np.inf
    for _ in range(num_steps):
        likelihood, flow = _expected(events, probs)
        if likelihood - before < GOOD_ENOUGH:
            break
        before = likelihood
        probs = _normalised(events, np.where(flow < NEGLIGIBLE * flow.sum(axis=2, keepdims=True), 0.0, flow))
    return likelihood, probs


def _simplified(events: Traces, probs: Floats) -> tuple[float, Floats]:
    """Drop edges, the least likely first, where that costs less than a parameter; return the score and what is left."""
    price = 0.5 * np.log(events.num_episodes)
    likelihood, probs = _climb(events, probs, STEPS)
    score = likelihood - price * (probs > 0).sum()
    for edge in np.argsort(probs, axis=None):
        if 0.0 < probs.flat[edge] < 1.0:
            fewer = probs.copy()
            fewer.flat[edge] = 0.0
            likelihood, fewer = _climb(events, _normalised(events, fewer), STEPS_WITHOUT_EDGE)
            if likelihood - price * (fewer > 0).sum() > score:
                score, probs = likelihood - price * (fewer > 0).sum(), fewer
    return score, probs


def _normalised(events: Traces, flow: Floats) -> Floats:
    """Scale [M, S, M] so that the rewards and moves of each state and label sum to 1."""
    scaled: Floats = flow / np.maximum(events.label_totals(flow.sum(axis=2)), 1e-300)[:, :, None]
    return scaled


def _forward(traces: Traces, probs: Floats) -> tuple[Floats, Floats]:
    """Return the beliefs [L + 1, N, M] before each step, and the probability [L, N] of each step."""
    num_rows, longest = traces.symbols.shape
    by_symbol = np.ascontiguousarray(probs.transpose(1, 0, 2))
    beliefs, step_probs = np.zeros((longest + 1, num_rows, len(probs))), np.ones((longest, num_rows))
    beliefs[0, :, 0] = 1.0
    for step in range(longest):
        num_active = int((traces.lengths > step).sum())  # the first so many, as the longest episodes come first
        joint = np.einsum("nq,nqz->nz", beliefs[step, :num_active], by_symbol[traces.symbols[:num_active, step]])
        step_probs[step, :num_active] = np.maximum(joint.sum(axis=1), IMPOSSIBLE)
        beliefs[step + 1, :num_active] = joint / step_probs[step, :num_active, None]
    return beliefs, step_probs


def _log_likelihood(traces: Traces, probs: Floats) -> float:
    return float(traces.weights @ np.log(_forward(traces, probs)[1]).sum(axis=0))


def _edge_use(traces: Traces, probs: Floats, beliefs: Floats, step_probs: Floats) -> Iterator[_Moves]:
    """Yield, for each step from the last: the symbols [n], and the probability [n, M, M] of each move, given all."""
    by_symbol = np.ascontiguousarray(probs.transpose(1, 0, 2))
    ahead = np.ones(beliefs.shape[1:])
    for step in reversed(range(len(step_probs))):
        num_active = int((traces.lengths > step).sum())
        symbols, here = traces.symbols[:num_active, step], step_probs[step, :num_active, None]
        moves, scaled = by_symbol[symbols], ahead[:num_active] * (here > IMPOSSIBLE) / here
        yield symbols, beliefs[step, :num_active, :, None] * moves * scaled[:, None, :]
        ahead[:num_active] = np.einsum("nqz,nz->nq", moves, scaled)


def _expected(traces: Traces, probs: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and how often each edge is expected to have been taken [M, S, M]."""
    beliefs, step_probs = _forward(traces, probs)
    flow, which = np.zeros((probs.shape[1], len(probs) ** 2)), np.eye(probs.shape[1])
    for symbols, use in _edge_use(traces, probs, beliefs, step_probs):
        flow += (which[symbols] * traces.weights[: len(symbols), None]).T @ use.reshape(len(symbols), -1)
    likelihood = float(traces.weights @ np.log(step_probs).sum(axis=0))
    return likelihood, flow.reshape(-1, len(probs), len(probs)).transpose(1, 0, 2)


def _smoothed(events: Traces, probs: Floats) -> Floats:
    """Return probabilities [M, S, M] in which nothing is impossible, as ``Traces.probabilities`` has it for counts."""
    _, flow = _expected(events, probs)
    base = events.base_rates[events.label_of, events.reward_of][:, None] / len(probs)
    smoothed: Floats = (flow + base) / (events.label_totals(flow.sum(axis=2)) + 1.0)[:, :, None]
    return smoothed


def _rival_score(fitted_to: Traces, held_out: Traces, moves: Ints) -> float:
    """Return the log-likelihood of held-out episodes if symbols fix the next state, by the probabilities of others."""
    counts, held_counts = (walk_from_start(part, moves).counts for part in (fitted_to, held_out))
    return float((held_counts * np.log(fitted_to.probabilities(counts))).sum())


def _numbered(probs: Floats) -> Floats:
    """Number states by when they are first reached; those that are not are left out."""
    order = [0]
    for state in order:
        order += [q for q in dict.fromkeys(np.nonzero(probs[state])[1].tolist()) if q not in order]
    return probs[order][:, :, order]


def _with_idle(probs: Floats, idle: Ints) -> Floats:
    """Return the probabilities with those of labels that never matter: they stay."""
    extended = probs.copy()
    extended[:, idle] = np.eye(len(probs))[:, None, :]
    return extended


def _intervals(events: Traces, probs: Floats, flow: Floats) -> Floats:
    """Return approximate intervals [M, S, M, 2], which hold together.

    Where the next state is drawn, they come from the scatter of each episode's score (Berndt et al. 1974); where it is
    certain, from how often that is expected to have happened.
    """
    error = (1.0 - INTERVAL_LEVEL) / (flow > 0.0).sum()
    intervals = np.zeros((*flow.shape, 2))
    is_random = (probs > 0.0) & (probs < 1.0)
    is_sure = (flow > 0.0) & ~is_random
    times = np.floor(flow[is_sure])
    intervals[is_sure] = clopper_pearson(times, times, error)
    p, deviation = probs[is_random], _deviations(events, probs, *np.nonzero(is_random))
    width = norm.isf(error / 2.0) * deviation / (p * (1.0 - p))
    intervals[is_random] = expit(logit(p)[:, None] + width[:, None] * [-1.0, 1.0])
    return intervals


def _deviations(events: Traces, probs: Floats, states: Ints, symbols: Ints, targets: Ints) -> Floats:
    """Return the standard deviation [P] of the estimated probability of some edges."""
    use = np.zeros((len(events.lengths), len(states)))
    for came, moves in _edge_use(events, probs, *_forward(events, probs)):
        use[: len(came)] += moves[:, states, targets] * (came[:, None] == symbols)
    p, labels = probs[states, symbols, targets], events.label_of[symbols]
    same_cell = (states[:, None] == states) & (labels[:, None] == labels)
    scores = use - (use @ same_cell) * p  # the derivative by the log-odds of each edge in its cell
    information = (scores * events.weights[:, None]).T @ scores + NO_INFORMATION * np.eye(len(p))
    slope = same_cell * p[:, None] * (np.eye(len(p)) - p)
    deviations: Floats = np.sqrt(((slope @ np.linalg.inv(information)) * slope).sum(axis=1))
    return deviations


def _held_out(fitted_to: Traces, held_out: Traces, probs: Floats, smoothed: Floats, idle: Ints) -> HeldOut:
    held_out = _longest_first(held_out)
    base = np.log(fitted_to.base_rates[fitted_to.label_of, fitted_to.reward_of])
    explained = (_forward(held_out, _with_idle(probs, idle))[1] > IMPOSSIBLE).all(axis=0)
    return HeldOut(
        held_out.num_episodes,
        _log_likelihood(held_out, _with_idle(smoothed, idle)) / held_out.num_steps,
        float(held_out.symbol_counts @ base) / held_out.num_steps,
        float(held_out.weights @ explained) / held_out.num_episodes,
        True,
    )
