"""Settings that all tests share."""

import sys
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from numba.core import compiler

# The same examples every time: a commit that passed passes again. Compilation makes the first example slow, so no
# example has a deadline.
settings.register_profile(
    "praemia",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)
# For tools/fuzz.py: other examples for every --hypothesis-seed, and for nothing else.
settings.register_profile("fuzz", settings.get_profile("praemia"), derandomize=False, print_blob=True)
# For whoever wants to know only whether a test fails.
settings.register_profile("unshrunk", settings.get_profile("praemia"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("praemia")

_compile = compiler.compile_extra


def _compile_untraced(*args: Any, **options: Any) -> Any:
    """Compile while coverage looks away: below Python 3.12 it would trace the compiler too, at half its time again."""
    tracer: Any = sys.gettrace()
    if not hasattr(tracer, "start"):  # nothing traces, or a debugger
        return _compile(*args, **options)
    tracer.stop()
    try:
        return _compile(*args, **options)
    finally:
        tracer.start()


compiler.compile_extra = _compile_untraced
