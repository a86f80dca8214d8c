"""How large an automaton may become, and who is told while it grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from praemia.errors import SizeError

MAX_STATES = 100_000
MAX_NODES = 10_000_000
TELL_SECONDS = 2.0
CANDIDATES_PER_STATE, FEWEST_CANDIDATES = 2, 10_000


@dataclass
class Growth:
    """The limits of a construction. ``tell`` is called about every two seconds with the size so far, in words."""

    max_states: int = MAX_STATES
    max_nodes: int = MAX_NODES
    tell: Callable[[str], None] | None = None
    num_states: int = 1
    _last: float = field(default_factory=time.monotonic)

    @property
    def max_values(self) -> int:
        """How many values diagrams may have: most will be states, and some only come up on the way."""
        return max(FEWEST_CANDIDATES, CANDIDATES_PER_STATE * self.max_states)

    def check(self, num_nodes: int, num_values: int) -> None:
        """Raise a SizeError when a limit is exceeded."""
        size = f"{num_nodes:,} diagram nodes with {num_values:,} values, {self.num_states:,} states so far"
        if self.num_states > self.max_states or num_values > self.max_values:
            raise SizeError(f"the automaton outgrew its limit of {self.max_states:,} states ({size}); raise max_states")
        if num_nodes > self.max_nodes:
            raise SizeError(f"the automaton's guards outgrew the memory ({size})")
        if self.tell is not None and time.monotonic() - self._last > TELL_SECONDS:
            self._last = time.monotonic()
            self.tell(size)
