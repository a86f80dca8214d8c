"""List the public names whose docstring has no example: ``python tools/examples.py`` prints nothing if all have one."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

MODULES = (
    "praemia",
    "praemia.envs",
    "praemia.patterns",
    "praemia.learners",
    "praemia.exploration",
    "praemia.theory",
    "praemia.testing",
    "praemia.deep",
)


def public_names() -> dict[str, Any]:
    """Return every public object under its name; one that two modules export is listed under the first."""
    found: dict[str, Any] = {}
    for module in map(import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and not any(thing is other for other in found.values()):
                found[f"{module.__name__}.{name}"] = thing
    return found


def without_example() -> list[str]:
    """Return the public names without an example of their own."""
    return [name for name, thing in public_names().items() if ">>>" not in own_docstring(thing)]


def own_docstring(thing: Any) -> str:
    """Return the docstring of a function or a class, not that of a class above it."""
    return (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""


if __name__ == "__main__":
    for name in without_example():
        print(name)
