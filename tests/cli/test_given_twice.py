"""An option that is given twice adds up or is refused; nothing is forgotten without a word."""

from __future__ import annotations

from importlib import import_module

import click
import pytest

from praemia.cli import COMMANDS, execute

EVERY_OPTION = [
    (name, option)
    for name, (module, _) in COMMANDS.items()
    for option in getattr(import_module(module), f"{name}_command").params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize(("name", "option"), EVERY_OPTION, ids=lambda item: getattr(item, "name", item))
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(
    name: str, option: click.Option, capsys: pytest.CaptureFixture[str]
) -> None:
    once = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
    if option.multiple:
        return
    assert execute([name, *once, *once]) == 2
    assert f"{option.opts[-1]} is given 2 times; expected once" in capsys.readouterr().err


def test_the_options_that_may_be_repeated_say_so() -> None:
    for name, option in EVERY_OPTION:
        if option.multiple and option.name != "settings":
            assert "may be repeated" in str(option.help), f"{name} {option.opts}"


def test_learners_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "riverswim-5", "--learner", "random", "--learner", "optimal", "--episodes", "10", "--runs", "1"]
    assert execute(arguments) == 0
    shown = capsys.readouterr().out
    assert "random" in shown
    assert "optimal" in shown


def test_a_parameter_is_set_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "riverswim-5", "--set", "bonus_scale=1", "--set", "bonus-scale=2"]) == 2
    assert "--set bonus_scale is given twice" in capsys.readouterr().err
