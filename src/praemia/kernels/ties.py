"""Random numbers for drawing uniformly among equally good actions.

Passing a NumPy Generator into a kernel costs more than a small plan, so ties are broken with the "minimal standard"
generator, seeded by the caller from its Generator. Among k equals met one after the other, each newcomer replaces the
choice when the next number is a multiple of k.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def next_tie(state: int) -> int:
    """Return x ← 48271·x mod (2^31 − 1)."""
    return state * 48271 % 2147483647
