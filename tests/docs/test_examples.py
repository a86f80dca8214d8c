"""Every public name has an example in its docstring, and the examples print what they show."""

from __future__ import annotations

import doctest
import runpy
from pathlib import Path

import pytest

from praemia.learners import registry

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "examples.py"))
NAMES = TOOL["public_names"]()


def test_no_public_name_is_without_an_example() -> None:
    assert TOOL["without_example"]() == []


@pytest.mark.parametrize("name", NAMES)
def test_examples_print_what_they_show(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})  # an example may register a learner
    text = TOOL["own_docstring"](NAMES[name])
    if "stable_baselines3" in text:
        pytest.importorskip("stable_baselines3", reason="run by make test-deep")
    # Nothing is in the example's namespace but what it imports itself.
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, None, 0)
    assert test.examples
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
