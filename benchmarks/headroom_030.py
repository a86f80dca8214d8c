"""The headroom of version 0.3.0, to compare with: equals are drawn, plans change between episodes, other bonuses.

L = (N(o)/n)^⅓,   F = max{L, √(0.1·k/n)},   Q = min{T, p̂Y + 0.4·√(L·Var_p̂(Y)/n) + 0.6·S·F·(T − p̂Y)/n},

with S at least 0.02.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from praemia.learners import Headroom


class Headroom030(Headroom):
    """Headroom as it was in 0.3.0."""

    name: ClassVar[str] = "headroom-0.3.0"

    headroom_scale: float = 0.6
    forgotten_scale: float = 0.1
    order: str = "drawn"
    replan: str = "growth"

    @staticmethod
    def pair_numbers(  # type: ignore[override]  # it is told the episodes too
        visits: float, visits_of_state: float, episodes: float, constants: Any
    ) -> tuple[float, ...]:
        neglect = (visits_of_state / visits) ** (1.0 / 3.0)
        forgotten = np.maximum(neglect, np.sqrt(constants[2] * episodes / visits))
        return constants[0] * np.sqrt(neglect / visits), constants[1] * forgotten / visits

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom = pair.numbers
        return mean + (per_deviation * deviation + np.maximum(pair.spread, 0.02) * per_headroom * (pair.limit - mean))
