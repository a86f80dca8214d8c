"""The public names: each can be imported, and type checkers are told of all of them."""

from __future__ import annotations

import pkgutil
import runpy
from pathlib import Path

import pytest

import praemia
from praemia import learners
from praemia.learners.registry import BUILT_IN

GENERATED = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "names.py"))["stubs"]()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.parent.name)
def test_the_names_for_type_checkers_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path], "run: make names"


@pytest.mark.parametrize("room", [praemia, learners], ids=lambda room: room.__name__)
def test_every_public_name_can_be_had_and_is_listed(room: object) -> None:
    for name in room.__all__:
        assert getattr(room, name) is not None
        assert name in dir(room)
    with pytest.raises(AttributeError, match="nonsense"):
        room.nonsense  # noqa: B018


@pytest.mark.parametrize("name", ["Experience", "Learner", "LearnerPlan", "Headroom", "Run"])
def test_what_it_takes_to_write_a_learner_is_public(name: str) -> None:
    assert name in praemia.__all__


def test_help_lists_rooms_and_what_users_need_and_no_private_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(praemia.__path__)}
    rooms = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    described = {name for name in modules if f"| `{name}` |" in rooms}
    public = {name for name in modules - described if not name.startswith("_")}
    assert public == {"comparison", "errors", "labels", "patterns", "testing", "theory"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_learner_is_registered_under_its_own_name_and_exported(name: str) -> None:
    kind = learners.kind_of(name)
    assert learners.make(name).name == name
    assert getattr(praemia, kind.__name__) is kind
