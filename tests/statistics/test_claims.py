"""Claims: every question with each outcome, made-up runs that decide each way, and how often verdicts are wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from stored_runs import (
    BEST,
    CORRECT,
    FLOWERS,
    HEADROOM,
    HORIZONS,
    KIND,
    L1,
    PRM,
    PRODUCT,
    PUBLISHED,
    RIVERS,
    WAREHOUSES,
    studies,
    with_finals,
)

from praemia import Run
from praemia.experiments.experiment import Group
from praemia.experiments.schema import ClaimPart, SettingPart
from praemia.statistics.claims import (
    ANALYSES,
    MAX_RUNS,
    MIN_RUNS,
    QUESTIONS,
    Verdict,
    bonferroni_level,
    check_claims,
    further_runs,
    next_analysis,
)
from praemia.statistics.intervals import Interval, quotient_interval
from praemia.statistics.measures import Scale, did_not_converge, log_regret, ratio_by_kind
from praemia.statistics.series import Study

RATIO = Scale.ratio()
WORDS = ("other is lower", "level", "ours is lower")
HELD, FAILED, OPEN = True, False, None
FIRST, SECOND = ("riverswim-5", PRM), ("riverswim-5", PRODUCT)


def judge(question: str, interval: Interval, scale: Scale = RATIO) -> bool | None:
    holds, fails, _ = QUESTIONS[question]
    return True if holds(interval, scale) else False if fails(interval, scale) else None


def test_exact_zeros_are_level_though_a_tenth_of_nothing_is_nothing() -> None:
    nothing, zero = Scale.around(0.0, 0.0), Interval(0.0, 0.0, 0.0)
    assert nothing.read(zero, WORDS) == "level"
    assert judge("above", zero, nothing) is FAILED
    assert judge("level", zero, nothing) is HELD
    assert judge("level", Interval(0.0, -0.1, 0.1), nothing) is OPEN


@pytest.mark.parametrize(
    ("question", "low", "high", "outcome"),
    [
        ("above", 1.01, 1.9, HELD),
        ("above", 0.5, 0.99, FAILED),
        ("above", 0.95, 1.05, FAILED),  # level: any difference is below 10 %
        ("above", 0.95, 1.2, OPEN),
        ("above", 0.8, 1.05, OPEN),
        ("below", 0.5, 0.99, HELD),
        ("below", 1.01, 1.9, FAILED),
        ("below", 0.95, 1.05, FAILED),
        ("below", 0.8, 1.05, OPEN),
        ("level", 0.92, 1.09, HELD),
        ("level", 1.02, 1.06, HELD),  # not the same, but by less than 10 %
        ("level", 1.11, 1.5, FAILED),
        ("level", 0.5, 0.9, FAILED),
        ("level", 0.9, 1.05, OPEN),
        ("level", 0.5, 2.0, OPEN),
        ("no less", 0.92, 3.0, HELD),
        ("no less", 0.5, 0.9, FAILED),
        ("no less", 0.9, 0.95, OPEN),
        ("no more", 0.3, 1.09, HELD),
        ("no more", 1.11, 1.2, FAILED),
        ("no more", 1.0, 1.2, OPEN),
    ],
)
def test_every_question_has_three_outcomes(question: str, low: float, high: float, outcome: bool | None) -> None:
    assert judge(question, Interval(math.sqrt(low * high), low, high)) is outcome


@given(st.floats(0.2, 5.0), st.floats(1.0, 3.0))
def test_no_interval_holds_above_and_below_at_once_and_a_narrow_one_decides(middle: float, half: float) -> None:
    interval = Interval(middle, middle / half, middle * half)
    above, below = judge("above", interval), judge("below", interval)
    assert not (above and below)
    if above or below:
        assert {above, below} == {True, False}
    if half <= 1.047:
        assert above is not None
        assert below is not None


@pytest.mark.parametrize(
    ("low", "high", "reading"),
    [
        (1.2, 1.5, "other is lower"),
        (1.02, 1.05, "other is lower, by less than 10%"),
        (0.95, 1.05, "level"),
        (0.5, 0.8, "ours is lower"),
        (0.95, 1.5, "other is lower or level"),
        (0.8, 1.05, "level or ours is lower"),
        (0.5, 1.5, "not clear"),
    ],
)
def test_readings_tell_level_from_not_clear(low: float, high: float, reading: str) -> None:
    assert RATIO.read(Interval(1.0, low, high), WORDS) == reading


def verdicts(
    changes: Mapping[tuple[str, str], float] | None = None, num_runs: int = 8, exponent: float = 0.1
) -> dict[str, Verdict]:
    made = studies({**KIND, **(changes or {})}, num_runs, exponent)
    return {verdict.claim.say: verdict for study in made for verdict in check_claims(study)}


# For each claim of the paper's experiment, regrets with which it must not hold.
AGAINST: dict[str, dict[tuple[str, str], float]] = {
    "Warehouses: lower regret than UCBVI": {("warehouse-4", PRODUCT): 10.0},
    "Warehouses: a margin that grows": {("warehouse-5", PRODUCT): 60.0},
    "Warehouses: the lowest regret of all": {("warehouse-3", CORRECT): 8.0},
    "Small RiverSwim: level": {("riverswim-5", L1): 20.0},
    "Larger RiverSwims: ahead": {("riverswim-10", PUBLISHED): 10.0},
    "RiverSwims: a margin that grows": {("riverswim-15", L1): 40.0},
    "Ahead of UCRL2-RM-B with correct intervals": {("riverswim-15", CORRECT): 5.0},
    "Intervals as published cost regret": {("warehouse-3", PUBLISHED): 15.0},
    "No growth with the machine": {(FLOWERS[-1], PRM): 15.0},
    "Slower growth with the horizon": {(HORIZONS[-1], PRM): 60.0},
    "Slower growth with the observations": {(RIVERS[-1], CORRECT): 15.0},
    "UCBVI grows with the machine": {(FLOWERS[-1], PRODUCT): 30.0},
    "headroom ahead of the baselines": {("riverswim-5", HEADROOM): 11.0},
    "headroom no worse than the best baseline": {("warehouse-3", BEST): 4.4},
}
# Level with the baseline as published, and that one worse than the correct one: then the correct one is ahead.
TOGETHER = "Ahead of UCRL2-RM-B with correct intervals"


def test_every_claim_of_the_paper_holds_where_the_runs_say_so() -> None:
    found = verdicts()
    assert set(found) == {*AGAINST, "Growth no faster than √T"}
    found[TOGETHER] = verdicts({("riverswim-5", CORRECT): 15.0})[TOGETHER]
    assert {say: verdict.held for say, verdict in found.items()} == dict.fromkeys(found, True)
    assert all(verdict.evidence and verdict.rule for verdict in found.values())


@pytest.mark.parametrize("say", AGAINST)
def test_a_claim_does_not_hold_where_the_runs_say_otherwise(say: str) -> None:
    verdict = verdicts(AGAINST[say])[say]
    assert (verdict.held, verdict.outcome) == (False, "did not hold")


def in_unit(study: Study, unit: float) -> Study:
    """Return a study whose rewards are counted in another unit."""

    def run_of(run: Run) -> Run:
        values = {name: unit * getattr(run, name) for name in ("optimal_value", "plan_values", "returns")}
        return replace(run, **values)

    return replace(study, series={c: replace(s, runs=tuple(map(run_of, s.runs))) for c, s in study.series.items()})


@given(st.sampled_from([2.0**40, 2.0**-40, 1e12, 1e-12]), st.integers(0, 1000))
def test_verdicts_do_not_depend_on_the_unit_of_rewards(unit: float, seed: int) -> None:
    """All claims of the paper, on regrets around those with which they hold; and the measures that it does not use."""
    rng = np.random.default_rng(seed)
    regrets = {key: regret * float(rng.lognormal(0.0, 0.3)) for key, regret in KIND.items()}
    made = studies(regrets)
    flower = made[1]
    made.append(claimed(flower, measure="difference"))
    made += [
        claimed(flower, measure=name, question="no more", threshold=0.5) for name in ("not converged", "worst run")
    ]
    for study in made:
        for plain, scaled in zip(check_claims(study), check_claims(in_unit(study, unit)), strict=True):
            assert (scaled.held, scaled.why, scaled.summary) == (plain.held, plain.why, plain.summary)


def test_growth_faster_than_the_square_root_is_seen() -> None:
    assert verdicts(exponent=0.45)["Growth no faster than √T"].held is True
    verdict = verdicts(exponent=0.6)["Growth no faster than √T"]
    assert verdict.held is False
    assert {item.reading for item in verdict.evidence} == {"faster"}
    assert verdicts({("warehouse-3", BEST): 4.8})["headroom no worse than the best baseline"].held is True  # by a tenth


def test_without_runs_and_with_few_runs_nothing_is_decided_and_the_verdict_says_why() -> None:
    empty = studies({})
    found = [verdict for study in empty for verdict in check_claims(study)]
    assert {(verdict.held, verdict.why) for verdict in found} == {(None, "runs missing")}
    for num_runs in (1, 7):
        few = verdicts(num_runs=num_runs)
        assert {verdict.why for verdict in few.values()} == {f"too few runs ({num_runs}; at least 8 are needed)"}
    say = "Warehouses: lower regret than UCBVI"
    assert str(few[say]) == f"not decided   {say} (too few runs (7; at least 8 are needed))"
    assert str(verdicts()[say]) == f"held          {say}"


def test_a_missing_learner_leaves_only_its_own_claims_undecided() -> None:
    there = {key: regret for key, regret in KIND.items() if key != ("warehouse-4", PRODUCT)}
    found = {v.claim.say: v for study in studies(there) for v in check_claims(study)}
    undecided = {say for say, verdict in found.items() if verdict.held is None}
    assert undecided == {
        *("Warehouses: lower regret than UCBVI", "Warehouses: a margin that grows"),
        *("Warehouses: the lowest regret of all", "headroom ahead of the baselines"),
    }


def test_evidence_names_the_winner_and_counts_them() -> None:
    warehouses = verdicts()["Warehouses: lower regret than UCBVI"]
    assert [item.what for item in warehouses.evidence] == [f"{task}: {PRM} ÷ {PRODUCT}" for task in WAREHOUSES]
    verdict = verdicts({("riverswim-15", CORRECT): 5.0, ("riverswim-10", CORRECT): 10.0})[TOGETHER]
    readings = {item.what.split(":")[0]: item.reading for item in verdict.evidence}
    assert readings["riverswim-10"] == "level"
    assert readings["riverswim-15"] == "UCRL2-RM-B is lower"
    assert "UCBVI-PRM is lower in 3 of 6" in verdict.summary
    assert verdict.evidence[2].sample.interval.estimate == pytest.approx(2.0)


def claimed(study: Study, **part: object) -> Study:
    """Return a study with one claim of its first two learners, on all tasks."""
    claim = ClaimPart(**{"say": "claim", "measure": "ratio", "question": "below", "of": PRM, **part})
    claim = claim.model_copy(update={"than": [PRODUCT] if claim.is_of_two else [], "on": [*study.rows]})
    part = study.group.part.model_copy(update={"claims": [claim]})
    return replace(study, group=replace(study.group, part=part))


def one(study: Study, **part: object) -> Verdict:
    (verdict,) = check_claims(claimed(study, **part))
    return verdict


def pair(first: Sequence[float], second: Sequence[float]) -> Study:
    return with_finals(studies({})[0], {FIRST: first, SECOND: second})


def test_a_threshold_moves_the_value_that_is_compared_with() -> None:
    made = pair([4.0 + 0.01 * i for i in range(8)], [10.0 + 0.01 * i for i in range(8)])
    assert one(made, threshold=0.5).held is True
    assert one(made, threshold=0.3).held is False
    assert one(made, measure="difference", threshold=-5.0).held is True
    assert one(made, measure="difference", threshold=-7.0).held is False


def test_runs_that_scatter_decide_nothing_until_there_are_more() -> None:
    """Half of the runs of one learner lose a tenth of what the others do: a ratio of 1.65 is not clear at 8 runs."""
    for num_runs, held in ((8, None), (64, True)):
        thin = [3.0 if run % 2 else 30.0 for run in range(num_runs)]
        verdict = one(pair([10.0] * num_runs, thin))
        assert verdict.held is held
    assert one(pair([10.0] * 8, [3.0, 30.0] * 4)).why == "the intervals are too wide"


def test_levels_share_five_percent_among_comparisons_and_looks() -> None:
    assert 1 + math.log2(MAX_RUNS / MIN_RUNS) == ANALYSES
    assert bonferroni_level("above", 6) == pytest.approx(1.0 - 0.05 / 42.0)
    assert bonferroni_level("no less", 6) == pytest.approx(1.0 - 0.10 / 42.0)


def test_playing_on_until_it_is_decided_makes_few_mistakes() -> None:
    """Two learners are equal, and 2 comparisons ask at 8, 16 … 512 runs whether the first is lower or higher.

    At most 5 % of claims may be wrong at any look, so of 400 at most 34 with a probability above 99.9 % (a binomial
    tail). Plain 95 % intervals would be wrong in about a third.
    """
    rng = np.random.default_rng(1)
    wrong = careless = 0
    for _ in range(400):
        samples = rng.gamma(4.0, 1.0, size=(2, 2, MAX_RUNS))
        looks = [(pair, MIN_RUNS * 2**k) for k in range(ANALYSES) for pair in samples]
        for level in (bonferroni_level("above", 2), 0.95):
            found = [quotient_interval(pair[:, :n], [1, -1], level) for pair, n in looks]
            mistaken = any(interval.low > 1.0 or interval.high < 1.0 for interval in found)
            wrong, careless = (wrong + mistaken, careless) if level > 0.95 else (wrong, careless + mistaken)
    assert wrong <= 34
    assert careless > 80


def rare_failures(rng: np.random.Generator, num_runs: int) -> NDArray[np.float64]:
    """Return regrets of two equal learners: one run in fifty loses a hundred times as much."""
    regrets = rng.gamma(16.0, 1.0 / 16.0, size=(2, num_runs))
    return np.where(rng.random((2, num_runs)) < 0.02, 100.0, 1.0) * regrets


def test_runs_that_fail_rarely_do_not_make_equal_learners_different() -> None:
    """By intervals alone 14 % of such claims are decided; 5 % may be, of 200 at most 19 (a binomial tail of 99.9 %)."""
    rng = np.random.default_rng(3)
    study, decided, careless = studies({})[0], 0, 0
    for _ in range(200):
        samples = rare_failures(rng, 64)
        made = with_finals(study, {FIRST: samples[0].tolist(), SECOND: samples[1].tolist()})
        held = [one(made, question=question).held for question in ("above", "below")]
        decided += True in held
        interval = quotient_interval(samples, (1, -1), bonferroni_level("above", 1))
        careless += interval.low > 1.0 or interval.high < 1.0
    assert decided <= 19
    assert careless > decided


def test_a_verdict_that_rests_on_a_few_runs_says_so_and_one_that_does_not_stands() -> None:
    failing = [*([10.0] * 60), *([1000.0] * 4)]
    doubtful = one(pair([10.0 + 0.01 * i for i in range(64)], failing))
    assert (doubtful.held, doubtful.why) == (None, "a few runs lose many times as much as the others")
    assert one(pair([5.0 + 0.01 * i for i in range(64)], failing)).held is True


@pytest.mark.parametrize(("runs", "then"), [(1, 8), (7, 8), (8, 16), (20, 32), (256, 512), (512, 512), (700, 700)])
def test_the_next_look_is_the_next_power_of_two_up_to_the_cap(runs: int, then: int) -> None:
    assert next_analysis(runs) == then


def test_only_open_comparisons_of_open_claims_ask_for_runs() -> None:
    open_claim = one(pair([10.0] * 8, [3.0, 30.0] * 4))
    assert further_runs([open_claim]) == {FIRST: 16, SECOND: 16}
    longer = one(pair([10.0, 11.0] * 16, [3.0, 30.0, 1.0, 9.0] * 8))
    assert further_runs([open_claim, longer]) == {FIRST: 64, SECOND: 64}
    assert further_runs([one(pair([1.0] * 8, [3.0] * 8)), replace(open_claim, more_runs_help=False)]) == {}


# Over kinds of task.


def league(regrets: Mapping[str, Sequence[tuple[Sequence[float], Sequence[float]]]]) -> Study:
    """Return a study with tasks of some kinds: for each task, the regrets of the runs of two learners."""
    group = studies({})[0].group
    tasks = {f"{kind} {i}": (kind, pair) for kind, pairs in regrets.items() for i, pair in enumerate(pairs)}
    parts = [SettingPart(task=name, kind=kind) for name, (kind, _) in tasks.items()]
    finals = {(name, t): own for name, (_, pair) in tasks.items() for t, own in zip((PRM, PRODUCT), pair, strict=True)}
    cells = {cell: group.cells["riverswim-5", cell[1]] for cell in finals}
    return with_finals(Study(Group(group.part.model_copy(update={"tasks": parts}), cells), {}), finals)


def test_every_kind_counts_once_in_a_ratio_by_kind() -> None:
    study = league({"lake": [([2.0, 2.0], [1.0, 1.0])] * 4, "queue": [([8.0, 8.0], [1.0, 1.0])] * 2})
    assert ratio_by_kind(study, PRM, PRODUCT, study.rows, 0.95).estimate == pytest.approx(4.0)


def test_a_task_without_regret_counts_as_a_hundredth_of_an_optimal_episode() -> None:
    study = league({"lake": [([0.0] * 2, [1.0] * 2)]})
    assert math.exp(log_regret(study.series["lake 0", PRM])) == pytest.approx(0.01)


def test_over_kinds_tasks_are_the_sample_and_two_runs_of_each_are_enough() -> None:
    ahead = [([1.0 + 0.1 * i, 1.1], [2.0 + 0.05 * i, 2.2]) for i in range(6)]
    many, few = league({"lake": ahead, "queue": ahead}), league({"lake": ahead[:2], "queue": ahead[:2]})
    assert one(many, measure="ratio by kind").held is True
    undecided = one(few, measure="ratio by kind")
    assert (undecided.held, undecided.more_runs_help) == (None, False)
    assert "are too few, or do not agree" in undecided.why
    single = one(league({"lake": ahead[:1], "queue": ahead[:1]}), measure="ratio by kind")
    assert "too few runs (2;" in single.why
    assert single.more_runs_help is True


def test_the_worst_run_is_measured_in_means_and_the_median_over_tasks_decides() -> None:
    calm, wild = [1.0, 1.2] * 4, [1.0] * 7 + [50.0]
    held = one(league({"lake": [(calm, calm)] * 12}), measure="worst run", question="no more", threshold=2.0)
    failed = one(league({"lake": [(wild, calm)] * 12}), measure="worst run", question="no more", threshold=2.0)
    assert (held.held, failed.held) == (True, False)
    assert failed.evidence[0].sample.interval.estimate == pytest.approx(50.0 / (57.0 / 8.0))


def test_a_run_that_still_loses_at_its_end_has_not_converged() -> None:
    study = studies({("riverswim-5", PRM): 500.0}, exponent=1.0)[0]
    assert all(map(did_not_converge, study.series[FIRST].runs))
    settled = studies({("riverswim-5", PRM): 500.0}, exponent=0.1)[0]
    assert not any(map(did_not_converge, settled.series[FIRST].runs))
    for made, held in ((settled, True), (study, False)):
        many = replace(made, series={FIRST: replace(made.series[FIRST], runs=made.series[FIRST].runs * 100)})
        assert one(many, measure="not converged", question="no more", threshold=0.01).held is held
