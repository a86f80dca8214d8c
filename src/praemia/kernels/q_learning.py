"""Tabular Q-learning updates from the steps of an episode, for the machine state met or for all of them."""

from __future__ import annotations

from praemia.kernels.compiling import UNCOUNTED, compiled
from praemia.kernels.play import draw
from praemia.kernels.records import Bools, Floats, Ints, MachineArrays


@compiled(**UNCOUNTED)
def q_update(
    table: Floats,
    o: int,
    m: int,
    a: int,
    reward: float,
    z: int,
    m_next: int,
    is_done: Bools,
    rate: float,
    discount: float,
    end: float,
) -> None:
    """Move table[o, m, a] towards reward + discount · max_a' table[z, m', a'], or · ``end`` where it is over."""
    best = end
    if z < table.shape[0] and not is_done[m_next]:
        best = table[z, m_next, 0]
        for b in range(1, table.shape[2]):
            best = max(best, table[z, m_next, b])
    table[o, m, a] += rate * (reward + discount * best - table[o, m, a])


@compiled(**UNCOUNTED)
def learn_episode(
    table: Floats, steps: Ints, rewards: Floats, is_done: Bools, rate: float, discount: float, ends: Floats
) -> None:
    """Update table[O, M, A] along the steps (o, a, z, label, m, m') of an episode.

    is_done[M] says in which machine states an episode is over; ends[h] is what an end at step h is worth.
    """
    for h in range(steps.shape[0]):
        o, a, z, m, m_next = steps[h, 0], steps[h, 1], steps[h, 2], steps[h, 4], steps[h, 5]
        q_update(table, o, m, a, rewards[h], z, m_next, is_done, rate, discount, ends[h])


@compiled(**UNCOUNTED)
def learn_episode_for_all_states(
    table: Floats,
    steps: Ints,
    machine: MachineArrays,
    sums: Floats,
    uniforms: Floats,
    is_done: Bools,
    rate: float,
    discount: float,
    ends: Floats,
) -> None:
    """Update every machine state at each step: where would it have gone on this label, and what would it have paid?

    sums holds the running sums of the machine's probabilities, uniforms[H, M] the numbers to draw m' with.
    """
    num_states = table.shape[1]
    for h in range(steps.shape[0]):
        for m in range(num_states):
            row = steps[h, 3] * num_states + m
            j = draw(sums, machine.indptr[row], machine.indptr[row + 1], uniforms[h, m])
            q_update(
                table,
                steps[h, 0],
                m,
                steps[h, 1],
                machine.rewards[j],
                steps[h, 2],
                machine.targets[j],
                is_done,
                rate,
                discount,
                ends[h],
            )
