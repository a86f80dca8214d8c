"""How large an automaton may become, and who is told while it grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from praemia.errors import SizeError

MAX_STATES = 100_000
MAX_NODES = 10_000_000
TELL_SECONDS = 2.0


@dataclass
class Growth:
    """The limits of a construction. ``tell`` is called about every two seconds with the size so far, in words."""

    max_states: int = MAX_STATES
    max_nodes: int = MAX_NODES
    tell: Callable[[str], None] | None = None
    _last: float = field(default_factory=time.monotonic)

    def check(self, num_states: int, num_nodes: int) -> None:
        """Raise a SizeError when a limit is exceeded."""
        size = f"{num_states:,} states and {num_nodes:,} diagram nodes so far"
        if num_states > self.max_states:
            raise SizeError(f"the automaton has more than {self.max_states:,} states ({size}); raise max_states")
        if num_nodes > self.max_nodes:
            raise SizeError(f"the automaton's guards need more than {self.max_nodes:,} diagram nodes ({size})")
        if self.tell is not None and time.monotonic() - self._last > TELL_SECONDS:
            self._last = time.monotonic()
            self.tell(size)
