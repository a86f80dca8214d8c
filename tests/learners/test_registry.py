"""Learners by name: registered by a program, announced by an installed package, and never two of one name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from learner_files import ALL

from praemia import Learner, LearnerPlan, learners
from praemia.errors import ParameterError, UnknownNameError
from praemia.learners import registry


class Still(Learner):
    """Take the first action, whatever happens."""

    name: ClassVar[str] = "still"
    patience: int = 3

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        return LearnerPlan(np.zeros((spec.horizon, spec.num_machine_states, spec.num_observations), dtype=np.int64))


@pytest.fixture(autouse=True)
def _forget_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def test_a_registered_learner_is_known_by_its_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown learner 'still'"):
        learners.make("still")
    assert learners.register(Still) is Still
    assert learners.names()[-1] == "still"
    assert learners.kind_of("still") is Still
    assert learners.make("still", patience=5) == Still(patience=5)
    assert learners.make("still").parameters == {"replan": "doubling", "patience": 3}


def test_two_learners_of_one_name_are_an_error_that_names_both() -> None:
    class Other(Still):
        name: ClassVar[str] = "headroom"

    with pytest.raises(ParameterError, match=r"'headroom': praemia\.learners\.headroom:Headroom and .*Other"):
        learners.register(Other)
    assert learners.kind_of("headroom").__name__ == "Headroom"

    class Second(Still):
        name: ClassVar[str] = "still"

    learners.register(Still)
    with pytest.raises(ParameterError, match=r"'still': .*:Still and .*Second"):
        learners.register(Second)


def test_the_same_class_defined_again_takes_its_own_place() -> None:
    """As in a notebook whose cell is run a second time."""

    def define() -> type[Still]:
        class Again(Still):
            name: ClassVar[str] = "again"

        return Again

    learners.register(define())
    latest = learners.register(define())
    assert learners.kind_of("again") is latest


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [("Curious", "curious"), ("UCBVIPRM2", "ucbviprm2"), ("MyUCBVILearner", "my-ucbvi-learner")],
)
def test_a_learner_without_a_name_has_that_of_its_class(class_name: str, expected: str) -> None:
    kind = type(class_name, (Still,), {})
    learners.register(kind)
    assert learners.make(expected, patience=4) == kind(patience=4)


@pytest.mark.parametrize("name", ["foo.py", "my/foo.py", "foo.py:Bar", "a b", "", 5])
def test_a_name_that_nobody_could_ask_for_is_not_registered(name: Any) -> None:
    kind = type("Odd", (Still,), {"name": name})
    with pytest.raises(ParameterError, match=r"register\(Odd\): a learner with the name"):
        learners.register(kind)


@pytest.mark.parametrize("wrong", [5, "still", dict, Learner, Still()], ids=repr)
def test_what_is_no_learner_is_not_registered(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="register"):
        learners.register(wrong)
    assert "still" not in learners.names()


# Installed packages: real metadata, in processes of their own


def install(folder: Path, package: str, entries: str, text: str = ALL) -> None:
    """Put a package with entry points where Python finds it."""
    (folder / f"{package}.py").write_text(text)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[praemia.learners]\n{entries}\n")


def python(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, env=environment)


def test_a_package_announces_its_learners_and_is_imported_when_one_is_asked_for(tmp_path: Path) -> None:
    install(tmp_path, "others", "least-tried = others:LeastTried")
    code = (
        "import sys\nfrom praemia import learners\nlearners.make('random')\n"
        "print('least-tried' in learners.names(), 'others' in sys.modules)\n"
        "print(learners.make('least-tried', prior=2.0).prior, 'others' in sys.modules)\n"
    )
    done = python(tmp_path, code)
    assert done.stdout == "True False\n2.0 True\n", done.stderr


@pytest.mark.parametrize(
    ("entries", "name", "expected"),
    [
        ("headroom = others:LeastTried", "headroom", "two learners are called 'headroom'"),
        ("broken = no_such_module:X", "broken", "learner 'broken' of others (no_such_module:X) cannot be imported"),
        ("scale = others:SCALE", "scale", "learner 'scale' of others (others:SCALE): not a learner"),
        ("tried = others:LeastTried", "tried", "calls itself 'least-tried'; the names must agree"),
    ],
)
def test_a_package_that_announces_wrongly_is_named(
    entries: str, name: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "others", entries)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "others", raising=False)
    registry._announced.cache_clear()
    try:
        with pytest.raises(ParameterError) as caught:
            learners.make(name)
    finally:
        registry._announced.cache_clear()
        sys.modules.pop("others", None)
    assert expected in str(caught.value)
