"""What can follow a pair, as far as the labelling alone tells: the most that it can lead to."""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.arrays import Floats, Outlook
from praemia.kernels.compiling import INTERNAL, compiled
from praemia.kernels.rows import continuation
from praemia.kernels.simd import load, num_lanes, store


@compiled(**INTERNAL)
def fill_tops(zero: Any, outlook: Outlook, worth: Floats, width: int, by_label: Floats, tops: Floats) -> None:
    """Fill tops (flat [G·W]), the largest φ + W that can follow a pair of each group; worth[o · W + m] is V_{h+1}."""
    for lane in range(0, width, num_lanes(zero)):
        for label in range(outlook.indptr.shape[0] - 1):
            first = outlook.indptr[label]
            best = zero - np.inf
            for i in range(first, outlook.indptr[label + 1]):
                start = np.int64(outlook.targets[i]) * width
                value = continuation(zero, outlook.layers, label, worth, start, lane, width)
                best = np.maximum(best, value)
            store(by_label, label * width + lane, best)
        for group in range(outlook.group_indptr.shape[0] - 1):
            best = zero - np.inf
            for i in range(outlook.group_indptr[group], outlook.group_indptr[group + 1]):
                value = load(zero, by_label, np.int64(outlook.group_labels[i]) * width + lane)
                best = np.maximum(best, value)
            store(tops, group * width + lane, best)
