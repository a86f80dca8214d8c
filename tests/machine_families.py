"""The machines that benchmarks of exploration plan for, for tests too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from machine_family import machine_family

__all__ = ["machine_family"]
