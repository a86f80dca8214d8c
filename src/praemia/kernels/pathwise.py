"""What a step loses: how much less the best play after it is worth than the best play before it.

    loss_h(o, m, a) = V*_h(o, m) − Q*_h(o, m, a) ≥ 0

By the performance difference lemma the mean of Σ_h γ^h · loss_h over the steps of an episode is V* minus the value of
whatever chose the actions, even if it changed its mind in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from praemia.kernels.compiling import part
from praemia.kernels.records import END, Floats, Whole


class BestArrays(NamedTuple):
    """The optimum, and the probabilities and mean rewards of the edges and moves of a world; empty if not needed."""

    values: Floats  # [H + 1, O, M], V*
    discount: Floats  # [1], γ
    probs: Floats  # of the edges
    move_probs: Floats
    move_rewards: Floats
    known: Floats  # [H·O·M·A], the losses found so far, −1 where there is none yet; empty where they would be too many


@part
def find_loss(world: Any, h: int, o: Whole, m: Whole, a: Whole) -> float:
    """Compute what the action at a step loses; rounding errors below 0 count as 0."""
    best = world.best
    num_observations, num_machine_states = best.values.shape[1], best.values.shape[2]
    pair, worth = o * ((world.indptr.shape[0] - 1) // num_observations) + a, 0.0
    for e in range(world.indptr[pair], world.indptr[pair + 1]):
        z, row = world.edges[e]["target"], world.edges[e]["label"] * num_machine_states + m
        for j in range(world.move_indptr[row], world.move_indptr[row + 1]):
            m_next = world.moves[j]["target"]
            if z < num_observations:
                later = best.discount[0] * best.values[h + 1, z, m_next]
            else:
                later = world.exits[h + 1, END, m_next]
            worth += best.probs[e] * best.move_probs[j] * (best.move_rewards[j] + later)
    loss = best.values[h, o, m] - worth
    return loss if loss > 0.0 else 0.0
