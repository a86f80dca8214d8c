"""Built-in environments by name.

A name is a family, or a family with its main parameters: ``warehouse``, ``warehouse-4``, ``office-coffee``,
``random-20x4x5-0``. ``make`` takes any other parameter by keyword. To add a family, write its module and one
``Family`` and an example below.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from praemia.envs.classics import flower, riverswim, riverswim_prm, two_rooms, warehouse
from praemia.envs.craft import craft
from praemia.envs.generated_models import random_task
from praemia.envs.generated_tasks import generated_task
from praemia.envs.office import office, office_jair, office_map
from praemia.errors import ParameterError, did_you_mean, unknown_name
from praemia.tasks.task import Task

_NUMBER = "[0-9]{1,18}"


@dataclass(frozen=True)
class Family:
    """Environments that differ in their parameters only.

    Attributes
    ----------
    make : makes the task.
    suffix : a pattern of what follows the family's name; its groups are the parameters.
    title : the name in Gymnasium's id.
    """

    make: Callable[..., Task]
    suffix: str
    title: str

    @property
    def examples(self) -> list[str]:
        """The family's names in ``EXAMPLES``."""
        return [name for name in EXAMPLES if FAMILIES[parse_name(name)[0]] is self]

    @property
    def gymnasium_id(self) -> str:
        """The id in Gymnasium, such as ``praemia/Warehouse-v0``."""
        return f"praemia/{self.title}-v0"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that ``make`` takes."""
        return tuple(inspect.signature(self.make).parameters)

    @property
    def summary(self) -> str:
        """The first line of the docstring of ``make``."""
        return (inspect.getdoc(self.make) or "").splitlines()[0].replace("`", "")


_SIZE = f"-(?P<size>{_NUMBER})"
_SIZES = f"-(?P<observations>{_NUMBER})x(?P<actions>{_NUMBER})x(?P<machine_states>{_NUMBER})"
FAMILIES = {
    "riverswim": Family(riverswim, _SIZE, "RiverSwim"),
    "riverswim-prm": Family(riverswim_prm, _SIZE, "RiverSwimPRM"),
    "warehouse": Family(warehouse, _SIZE, "Warehouse"),
    "flower": Family(flower, f"-(?P<loop>{_NUMBER})", "Flower"),
    "rooms": Family(two_rooms, _SIZE, "TwoRooms"),
    "office-jair": Family(office_jair, "-t(?P<task>[0-9])", "OfficeJAIR"),
    "office-map": Family(office_map, "(?P<map>[0-9])-exp(?P<exp>[0-9])", "OfficeMap"),
    "office": Family(office, "-(?P<errand>[a-z-]+)", "Office"),
    "craft": Family(craft, f"-(?P<seed>{_NUMBER})-task(?P<task>[0-9]{{1,2}})", "Craft"),
    "random": Family(random_task, f"{_SIZES}-(?P<seed>{_NUMBER})", "Random"),
    "generated": Family(generated_task, f"-(?P<kind>[a-z]+)-(?P<seed>{_NUMBER})", "Generated"),
}
EXAMPLES = {  # names that stand for the families in lists and tests, with a few words on what to do there
    **{f"riverswim-{size}": "swim up a river and back" for size in (5, 10, 15)},
    **{f"riverswim-prm-{size}": "swim; the end may go unnoticed" for size in (5, 10, 15)},
    **{f"warehouse-{size}": "fetch an item and deliver it" for size in (3, 4, 5)},
    "flower-20": "count visits to a flower's petals",
    "rooms-9": "patrol two rooms joined by a door",
    "office-jair-t1": "bring coffee to the office",
    "office-jair-t2": "bring mail to the office",
    "office-jair-t3": "bring coffee and mail to the office",
    "office-jair-t4": "visit A, B, C and D in this order",
    "office-map0-exp0": "mail, then a corner, then the office",
    "office-map1-exp1": "coffee to the office; moves slip",
    "office-map2-exp3": "coffee and mail; moves slip",
    "office-map3-exp5": "A to D, then coffee and mail",
    "office-map4-exp6": "one coffee has a higher reward",
    "office-coffee": "bring coffee and break no plant",
    "office-mail": "bring mail and break no plant",
    "office-coffee-and-mail": "bring both and break no plant",
    "office-patrol": "patrol A, B, C, D; break no plant",
    "craft-0-task10": "gather and make things on a big map",
    "random-20x4x5-0": "a random task with the given sizes",
    "generated-lake-42": "cross an icy lake, made from a seed",
    "generated-lock-42": "open a lock, made from a seed",
}


def register() -> None:
    """Register every family with Gymnasium; calling it again changes nothing."""
    import gymnasium

    for name, family in FAMILIES.items():
        if family.gymnasium_id not in gymnasium.registry:
            gymnasium.register(family.gymnasium_id, "praemia.envs.gymnasium_env:make_env", kwargs={"family": name})


def make(name: str, **params: Any) -> Task:
    """Make a built-in task: ``make("warehouse-4")``, ``make("warehouse", size=4, horizon=12)``.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("warehouse-4")
    Task('warehouse-4': 16 observations, 5 actions, 3 machine states, horizon 12)
    >>> praemia.envs.make("warehouse", size=4, horizon=20).horizon
    20
    """
    family, in_name = parse_name(name)
    parameters = FAMILIES[family].parameters
    for key in params:
        if key not in parameters:
            raise ParameterError(
                f"{family} has no parameter {key!r}{did_you_mean(key, parameters)}; it takes {', '.join(parameters)}"
            )
        if key in in_name:
            raise ParameterError(f"{name}: {key} is in the name already ({in_name[key]}); give it once")
    return FAMILIES[family].make(**in_name, **params)


def names() -> list[str]:
    """Return names of built-in tasks, a few for each family.

    Examples
    --------
    >>> import praemia
    >>> "warehouse-4" in praemia.envs.names()
    True
    """
    return list(EXAMPLES)


def parse_name(name: str) -> tuple[str, dict[str, Any]]:
    """Return the family of a name and the parameters in it."""
    for family, entry in FAMILIES.items():
        match = re.fullmatch(f"{family}(?:{entry.suffix})?", str(name))
        if match:
            texts = {key: text for key, text in match.groupdict().items() if text is not None}
            return family, {key: int(text) if text.isdecimal() else text for key, text in texts.items()}
    raise unknown_name("environment", name, [*FAMILIES, *names()], "`praemia envs` lists them")
