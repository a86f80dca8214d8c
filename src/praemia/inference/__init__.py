"""Infer a reward machine from traces of labels and rewards.

The class of machines: the next state is fixed by the state, the label and the reward.
"""

from __future__ import annotations

from praemia.inference.answer import Edge, HeldOut, Inference
from praemia.inference.infer import infer
from praemia.inference.reading import load_traces
from praemia.inference.traces import Traces

__all__ = ["Edge", "HeldOut", "Inference", "Traces", "infer", "load_traces"]
