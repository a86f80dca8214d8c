"""The words of ``replan``, and the rule that each is read into."""

from __future__ import annotations

import pytest

from praemia.kernels import counts
from praemia.learners import Headroom, QRMax
from praemia.learners.replanning import EVERYBODYS, ReplanRule


@pytest.mark.parametrize(
    ("text", "code", "at_once"),
    [
        ("doubling", counts.DOUBLING, False),
        ("growth-at-once", counts.GROWTH, True),
        ("episode-at-once", counts.EPISODE, True),
        ("step", counts.STEP, True),
        ("repair", counts.REPAIR, True),
    ],
)
def test_a_word_says_when_a_plan_is_due_and_whether_it_is_made_at_once(text: str, code: int, at_once: bool) -> None:
    rule = ReplanRule.of(text)
    assert (rule.code, rule.at_once) == (code, at_once)


def test_every_word_is_a_rule_of_its_own() -> None:
    rules = [ReplanRule.of(text) for text in EVERYBODYS]
    assert len({(rule.code, rule.at_once) for rule in rules}) == len(EVERYBODYS)


def test_what_makes_a_pair_known_is_part_of_the_rule() -> None:
    rules = [QRMax(known_after=5, replan=text).replan_rule for text in ("known", "known-at-once", "epoch")]
    assert [(rule.code, rule.at_once) for rule in rules] == [(-5, False), (-5, True), (counts.EPOCH, False)]


def test_a_plan_for_a_machine_that_is_learned_is_made_anew_and_not_repaired() -> None:
    assert Headroom().replan_rule == ReplanRule.of("repair")
    assert Headroom(learn_machine=True).replan_rule == ReplanRule.of("growth")
