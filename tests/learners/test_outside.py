"""Learners in files of the user's own: what they are, and one message for everything that can be wrong with one."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learner_files import ALL, BONUS, HEAD, LEAST_TRIED

import praemia
from praemia import envs, learners, simulate
from praemia.errors import FileError, PraemiaError
from praemia.learners.external import LearnerCode
from praemia.simulation import Run


class Nowhere(praemia.Learner):
    """Go nowhere: a learner that a program defines for itself."""

    name = "nowhere"

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> praemia.LearnerPlan:
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return praemia.LearnerPlan(np.zeros(shape, dtype=np.int64))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(ALL)
    return path


def test_a_learner_is_made_from_its_file_as_by_name(file: Path) -> None:
    learner = learners.make(f"{file}:LeastTried", prior=2.5)
    assert isinstance(learner, praemia.Learner)
    assert (learner.name, learner.parameters) == ("least-tried", {"replan": "doubling", "prior": 2.5})
    run = simulate(envs.make("riverswim-5"), learner, 50)
    assert (run.learner, run.num_episodes) == ("least-tried", 50)
    digest = hashlib.sha256(ALL.encode()).hexdigest()[:12]
    assert run.origin == f"{file}:LeastTried@{digest}" == Run.from_bytes(run.to_bytes(), "here").origin
    with pytest.raises(PraemiaError, match="'least-tried' has no parameter 'prio' \\(did you mean 'prior'"):
        learners.make(f"{file}:LeastTried", prio=2.5)


def test_a_run_says_where_its_learner_is() -> None:
    task = envs.make("riverswim-3")
    assert simulate(task, learners.make("random"), 5).origin == ""
    here = simulate(task, Nowhere(), 5).origin
    assert here.startswith(f"{__name__}:Nowhere@")
    Typed = type("Typed", (Nowhere,), {"__module__": "typed_at_a_prompt", "name": "typed"})
    assert simulate(task, Typed(), 5).origin == "typed_at_a_prompt:Typed"


def test_the_same_text_is_executed_once_and_another_text_is_another_class(file: Path) -> None:
    first, again = (LearnerCode.read(f"{file}:LeastTried") for _ in range(2))
    assert first.load() is again.load()
    file.write_text(ALL.replace("1.0, ", "2.0, "))
    changed = LearnerCode.read(f"{file}:LeastTried")
    assert changed.digest != first.digest
    assert changed.load()().parameters["prior"] == 2.0
    assert first.load()().parameters["prior"] == 1.0


def test_the_text_is_all_that_is_needed_once_it_is_read(file: Path) -> None:
    code = LearnerCode.read(f"{file}:LeastTried")
    file.unlink()
    kind = code.load()
    assert inspect.getsource(kind.plan).strip() in LEAST_TRIED
    assert LearnerCode.of(kind) == code


def test_a_bonus_is_never_mistaken_for_that_of_another_text(tmp_path: Path) -> None:
    """With the largest bonus all pairs are worth the cap until the end; with none the first success is kept."""
    policies = {}
    for scale in ("0.0", "1e9"):
        path = tmp_path / "bonus.py"
        path.write_text(HEAD + BONUS.replace("0.5", scale))
        run = simulate(envs.make("riverswim-4", horizon=6), learners.make(f"{path}:PerVisit"), 60)
        policies[scale] = run.optimistic_values
    assert np.all(policies["1e9"] == policies["1e9"][0])
    assert policies["0.0"][-1] < policies["1e9"][-1]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("def f(:\n", "X", r"mine\.py:1: cannot be imported: SyntaxError: "),
        (
            "\n\nimport no_such_package\n",
            "X",
            r"mine\.py:3: .*'no_such_package'; .* installed packages",
        ),
        ("x = 1\ny = 1 / 0\n", "X", r"mine\.py:2: cannot be imported: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "X", r"mine\.py:1: cannot be imported: SystemExit: 3"),
        (ALL, "LeastTired", r"mine\.py: it has no class 'LeastTired' \(did you mean 'LeastTried'\?\)"),
        (ALL, "SCALE", r"mine\.py: SCALE is not a learner; expected a class derived from praemia\.Learner"),
        ("\nclass X:\n    pass\n", "X", r"mine\.py:2: X is not a learner"),
        (HEAD + "class X(Learner):\n    name = 'x'\n", "X", r"mine\.py:\d+: X is an abstract class; it lacks plan\(\)"),
        (
            HEAD + LEAST_TRIED.replace('"least-tried"', "'a b'"),
            "LeastTried",
            r"mine\.py:\d+: LeastTried is a learner with the name 'a b'",
        ),
        (
            HEAD + LEAST_TRIED.replace("least-tried", "foo.py"),
            "LeastTried",
            r"mine\.py:\d+: LeastTried is a learner with the name 'foo\.py', which reads as a file's",
        ),
        (
            HEAD + LEAST_TRIED.replace('"least-tried"', "None"),
            "LeastTried",
            r"mine\.py:\d+: LeastTried is a learner with the name None",
        ),
        (
            HEAD + LEAST_TRIED.replace("= parameter(", "# "),
            "LeastTried",
            r"mine\.py:\d+: LeastTried is a learner whose parameters need defaults: prior",
        ),
        *(
            (
                HEAD + LEAST_TRIED.replace("class", f"from dataclasses import dataclass\n\n{decorator}\nclass"),
                "LeastTried",
                r"mine\.py:\d+: LeastTried: a learner is a dataclass by itself: remove the decorator",
            )
            for decorator in ("@dataclass", "@dataclass(frozen=True, kw_only=True)")
        ),
        (
            HEAD + LEAST_TRIED.replace("least-tried", "headroom"),
            "LeastTried",
            r"two learners are called 'headroom': praemia\.learners\.headroom:Headroom and .*/mine\.py:LeastTried; ",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_message(text: str, kind: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(PraemiaError, match=expected) as caught:
        learners.make(f"{path}:{kind}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("decorate", [dataclass, dataclass(frozen=True, kw_only=True)], ids=["plain", "frozen"])
def test_a_decorator_in_a_script_is_refused_in_the_same_words(decorate: Any) -> None:
    with pytest.raises(PraemiaError, match="Mine: a learner is a dataclass by itself: remove the decorator"):
        decorate(type("Mine", (Nowhere,), {}))


def test_the_line_of_a_class_is_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + "\nclass X(Learner):\n    name = 'x'\n")
    line = path.read_text().splitlines().index("class X(Learner):") + 1
    with pytest.raises(FileError, match=rf"mine\.py:{line}: "):
        learners.make(f"{path}:X")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("nowhere.py:X", r"nowhere\.py: cannot be read: No such file"),
        ("nowhere.py", r"'nowhere\.py' names a file and no class; expected nowhere\.py:Class"),
        ("nowhere.py:", r"expected nowhere\.py:Class"),
        (".py:X", "unknown learner"),
    ],
)
def test_a_file_that_is_not_there_or_not_whole_is_named(reference: str, expected: str) -> None:
    with pytest.raises(PraemiaError, match=expected):
        learners.make(reference)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(FileError, match="not a Python file"):
        learners.make(f"{tmp_path / 'mine.py'}:X")
