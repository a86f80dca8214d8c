"""The cube root by + − × ÷ √ alone: the same bits compiled or not, and on every processor.

``np.cbrt`` is NumPy's own vector code on some processors and the C library's on others, and these differ in the last
bit. Here x^(1/4)·x^(1/16) = x^(5/16) is a first guess, and each step of Halley's method cubes its error:

    r ← r − r·(r³ − x)/(2r³ + x).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

NUM_STEPS = 4  # enough for x up to 2⁶³, more than anything can be counted


@register_jitable
def cube_root(x: Any) -> Any:
    """Return the cube root of a number from 2⁻⁶³ to 2⁶³, or of an array, to within one unit in the last place."""
    fourth = np.sqrt(np.sqrt(x))
    root = fourth * np.sqrt(np.sqrt(fourth))
    for _ in range(NUM_STEPS):
        cube = root * root * root
        root = root - root * (cube - x) / (cube + cube + x)
    return root
