"""Does a machine with hidden moves explain the traces with fewer states? Then the machine lies outside the class.

In the class, label and reward fix the next state. Outside it, a step may lead to one of several states without a
reward that tells which: in the warehouse, nothing shows whether the gripper took the item. To the observer such a
machine is a growing family of beliefs, which state merging turns into more and more states as data comes in. As any
number of traces is explained by enough of these, what is evidence is the number of states:

- *needed*: every machine in the class needs at least N states (``praemia.inference.states_needed``, at the level ρ);
- *enough*: a machine of n < N states with hidden moves is not rejected, on the same episodes or, where there are too
  many different ones, on beginnings that need N states too. It is fitted to one half of the episodes, by expectation
  maximisation (Baum et al. 1970). The machine inferred, with its chances estimated on the other half, may be at most
  1/ρ times as likely on this half. A right machine fails that with probability at most ρ (Wasserman, Ramdas and
  Balakrishnan 2020), if the fit is the best one.

This prefers the smaller machine and proves nothing: some machines of the class are explained by fewer hidden states.
Steps of labels that never matter are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from praemia.inference.state_table import StateTable, walk_from_start
from praemia.inference.states_needed import states_needed
from praemia.inference.traces import Floats, Ints, Traces

MOST_STATES = 4
STARTS, STEPS = 20, 400
ROUNDS = ((4, 8), (20, 3), (60, 2))  # steps of each fit, and how many of the fits are followed further
PATIENCE = 20  # steps before a fit may be given up
GOOD_ENOUGH = 1e-3  # nats that a step must gain to be followed by another
OPEN = 0.3  # how much of each edge is left open at the start of a fit
NEGLIGIBLE = 1e-3
MAX_EVENTS, MAX_ROWS = 12, 800  # of an episode, and different episodes
LEAST_EVENTS = 4  # shorter beginnings are explained by few states, whatever the machine


def fewest_hidden(traces: Traces, table: StateTable, idle: Ints, needed: int, failure_prob: float) -> int | None:
    """Return the number of states, below those needed in the class, that are enough if moves are hidden.

    None says that nothing speaks for hidden moves. An inferred machine of fewer states than are needed is wrong itself,
    and no measure for others.

    Parameters
    ----------
    idle : the symbols of labels that never matter. failure_prob : ρ, the level of the test.
    """
    if table.num_states < needed:
        return None
    whole, moves, rng = traces.without(idle), table.moves, np.random.default_rng(0)
    events = _shortened(whole)
    if events.symbols.shape[1] < whole.symbols.shape[1]:  # beginnings may need fewer states than whole episodes
        if events.symbols.shape[1] < LEAST_EVENTS:
            return None
        needed = min(needed, states_needed(events, moves, failure_prob))
    fewest = None
    for num_states in range(min(needed - 1, MOST_STATES), 1, -1):
        if not _is_enough(events, moves, num_states, failure_prob, rng):
            break  # then fewer are not enough either
        fewest = num_states
    return fewest


def _shortened(events: Traces) -> Traces:
    """Return the beginnings of episodes, as long as there are not too many different ones."""
    for length in range(min(MAX_EVENTS, events.symbols.shape[1]), 0, -1):
        beginnings = events.beginnings(length)
        if len(beginnings.lengths) <= MAX_ROWS:
            break
    return beginnings


def _is_enough(events: Traces, moves: Ints, num_states: int, failure_prob: float, rng: np.random.Generator) -> bool:
    """Tell whether a machine with hidden moves is not rejected in favour of δ, on either half of the episodes."""
    halves = events.split(0.5, rng)
    rivals = [
        float(
            (
                walk_from_start(tried, moves).counts
                * np.log(others.probabilities(walk_from_start(others, moves).counts))
            ).sum()
        )
        - np.log(1.0 / failure_prob)
        for tried, others in (halves, halves[::-1])
    ]
    counts = walk_from_start(events, moves).counts
    starts = [
        *_starts(counts, moves, events.label_of, num_states),
        *_random_starts(counts, events.label_of, num_states, rng),
    ]
    chances = _search(events, starts, sum(rivals))
    for tried, rival in zip(halves, rivals, strict=True):
        likelihood, used = _climb(tried, chances, STEPS, rival)
        if likelihood < rival or not _hides(used):
            return False
    return True


def _search(events: Traces, starts: list[Floats], goal: float) -> Floats:
    """Fit machines with hidden moves from many starts; those that fit better are followed further. Return the best."""
    for num_steps, kept in ROUNDS:
        fitted = sorted((_climb(events, start, num_steps) for start in starts), key=lambda found: -found[0])[:kept]
        starts = [_normalised(used, events.label_of) for _, used in fitted]
    _, used = max((_climb(events, start, STEPS, goal) for start in starts), key=lambda found: found[0])
    return _normalised(used, events.label_of)


def _hides(used: Floats) -> bool:
    """Tell whether some step [M, S, M] leads to more than one state."""
    return bool(((used >= 1.0).sum(axis=2) > 1).any())


def _starts(counts: Floats, moves: Ints, label_of: Ints, num_states: int) -> Iterator[Floats]:
    """Yield machines made of some states of the inferred one; an edge to another state may lead anywhere."""
    often = 1 + np.argsort(-counts[1:].sum(axis=1), kind="stable")
    for others in islice(combinations(often.tolist(), num_states - 1), STARTS):
        kept = [0, *others]
        chances = (moves[kept][:, :, None] == kept) + OPEN / num_states
        yield _normalised((counts[kept] + 0.5)[:, :, None] * chances, label_of)


def _random_starts(counts: Floats, label_of: Ints, num_states: int, rng: np.random.Generator) -> Iterator[Floats]:
    occurs = (counts.sum(axis=0) > 0)[None, :, None]
    for _ in range(STARTS):
        yield _normalised((rng.gamma(0.5, size=(num_states, counts.shape[1], num_states)) + 1e-3) * occurs, label_of)


def _climb(events: Traces, chances: Floats, num_steps: int, goal: float = -np.inf) -> tuple[float, Floats]:
    """Raise the likelihood step by step; return it, and how often each edge is used. Those hardly used are dropped.

    A climb that would not reach its goal even if it kept its pace is given up.
    """
    before = -np.inf
    for step in range(num_steps):
        likelihood, used = _expected(events, chances)
        pace, before = likelihood - before, likelihood
        if pace < GOOD_ENOUGH or (step > PATIENCE and likelihood + pace * (num_steps - step) < goal):
            break
        chances = _normalised(np.where(used < NEGLIGIBLE * used.sum(axis=2, keepdims=True), 0.0, used), events.label_of)
    return likelihood, used


def _normalised(chances: Floats, label_of: Ints) -> Floats:
    """Scale [M, S, M] so that the rewards and moves of each state and label sum to 1."""
    totals = np.zeros((len(chances), int(label_of.max()) + 1))
    np.add.at(totals.T, label_of, chances.sum(axis=2).T)
    scaled: Floats = chances / np.maximum(totals[:, label_of], 1e-300)[:, :, None]
    return scaled


def _expected(events: Traces, chances: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and how often each edge is expected to have been taken [M, S, M]."""
    num_rows, longest = events.symbols.shape
    by_symbol = np.ascontiguousarray(chances.transpose(1, 0, 2))
    forward = np.zeros((longest + 1, num_rows, len(chances)))
    forward[0, :, 0] = 1.0
    scales = np.ones((longest, num_rows))
    for step in range(longest):
        inside = step < events.lengths
        moved = np.einsum("nq,nqz->nz", forward[step, inside], by_symbol[events.symbols[inside, step]])
        scales[step, inside] = np.maximum(moved.sum(axis=1), 1e-100)
        forward[step + 1, inside] = moved / scales[step, inside, None]
    used, behind, which = np.zeros_like(by_symbol), np.ones((num_rows, len(chances))), np.eye(len(by_symbol))
    for step in reversed(range(longest)):
        inside = step < events.lengths
        symbols, moves = events.symbols[inside, step], by_symbol[events.symbols[inside, step]]
        ahead = behind[inside] / scales[step, inside, None]
        edge = forward[step, inside][:, :, None] * moves * ahead[:, None, :] * events.weights[inside, None, None]
        used += (which[symbols].T @ edge.reshape(len(symbols), -1)).reshape(used.shape)
        behind[inside] = np.einsum("nqz,nz->nq", moves, ahead)
    return float(events.weights @ np.log(scales).sum(axis=0)), used.transpose(1, 0, 2)
