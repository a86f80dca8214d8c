"""Learners that can learn the machine as well: its states are seen, its chances and rewards are not.

The learner is told the states, the initial state, the labels and the range of the rewards; with ``moves_known`` also
which moves are possible. It counts (m, σ, m') and rewards beside (o, a, o'), and plans as
``praemia.kernels.learned_machine`` says. With c_a = √(ln(2·H·M·L·O·T/ρ)/2), L the number of labels, and c_b ≥ 0,
Hoeffding's inequality for Σ over (r, m') of r + V*_{h+1}(o', m'), which lies in [0, H − h], and a union over h, m, σ,
o' and n give

    φ̂ + W̄_h(m, σ, o') ≥ φ + Σ τ·V*_{h+1}   with probability 1 − ρ,   W̄_h = β_h + Σ τ̂·V̄_{h+1},

so a pair's Ȳ = φ̂ + W̄ is at least Y* = φ + W*, and a plan stays optimistic, in all with probability 1 − 2ρ.

- Headroom: as for the known machine, its worth rises with Y, and where Y exceeds T the pair is worth T.
- UCBVI-PRM: its last term counts visits to o' and says nothing about (m, σ). Instead let Δ = Ȳ − Y* ≥ 0. Then
  sd(Y*) ≤ sd(W̄) + ½ + √(2H·p̂Δ) and √(2ι/n)·√(2H·p̂Δ) ≤ p̂Δ + ιH/n, so the first three terms of the bonus suffice for
  n ≥ 4; for fewer visits the second alone exceeds H.

In a black box L is the number of labels known at the start of a run, so the guarantee is for tasks. The price in regret
is the sum of 2·c_a·H/√N(m, σ) over the steps: at most about 4·c_a·H·√(M·L·T), a term in M·L beside O·A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from praemia.arithmetic import portable_log
from praemia.errors import ParameterError
from praemia.learners.compiled import CompiledLearner
from praemia.tasks.spec import TaskSpec

PER_VISIT = 0.1  # the practical c_b


@dataclass(frozen=True, kw_only=True)
class CanLearnMachine(CompiledLearner):
    """The base of learners with the parameter ``learn_machine``."""

    learn_machine: bool = field(
        default=False, metadata={"help": "learn the machine's probabilities and rewards too; only its states are seen"}
    )
    moves_known: bool = field(
        default=False, metadata={"help": "with learn_machine: which moves are possible is known, not how likely"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("learn_machine", "moves_known"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name}={getattr(self, name)!r}; expected true or false")
        if self.moves_known and not self.learn_machine:
            raise ParameterError("moves_known=true; it needs learn_machine=true, or else the whole machine is known")

    @staticmethod
    def machine_root(spec: TaskSpec, num_steps: int, failure_prob: float) -> float:
        """Return the c_a of the theory."""
        rows = spec.num_machine_states * max(1, len(spec.label_sets)) * spec.num_observations
        return math.sqrt(portable_log(2.0 * spec.horizon * rows * num_steps / failure_prob) / 2.0)
