"""Traces: what is in them, and one clear message for each mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from praemia.errors import FileError, ModelError, PraemiaError, SizeError
from praemia.inference import load_traces
from praemia.inference.reading import as_traces


def test_equal_episodes_are_kept_once_and_everything_is_counted() -> None:
    episode = [({"item"}, 0.0), (set(), 1)]
    traces = as_traces([episode, [([], -0.5)], [(("item", "item"), 0), ((), 1.0)]])
    summary = traces.summary()
    assert (summary["episodes"], summary["distinct_episodes"], summary["steps"]) == (3, 2, 5)
    assert (summary["shortest"], summary["longest"]) == (1, 2)
    assert summary["labels"] == [{"label": [], "steps": 3}, {"label": ["item"], "steps": 2}]
    assert summary["rewards"] == [
        {"reward": -0.5, "steps": 1},
        {"reward": 0.0, "steps": 2},
        {"reward": 1.0, "steps": 2},
    ]


def test_a_split_loses_no_episode_and_repeated_ones_fall_to_the_parts_by_chance() -> None:
    """Of 3 × 400 equal episodes a half falls to the second part, ± 10 (one σ): 1,000 splits tell 10 from 0."""
    traces = as_traces([[(set(), float(i % 3))] for i in range(1_200)])
    rng = np.random.default_rng(0)
    seconds = []
    for _ in range(1_000):
        kept, out = traces.split(0.5, rng)
        assert kept.num_episodes + out.num_episodes == 1_200
        seconds.append(out.symbol_counts)
    assert np.std(seconds, axis=0) == pytest.approx(np.full(3, 10.0), abs=1.0)  # 4.5 σ
    assert np.mean(seconds, axis=0) == pytest.approx(np.full(3, 200.0), abs=1.5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7", "expected an episode"),
        ("[]", "an episode without steps"),
        ("[3]", "step 1: 3; expected a pair"),
        ('[[["a"], 0], [["a"]]]', "step 2"),
        ("[[[1], 0]]", r"the label is \(1,\); expected a set of proposition names"),
        ("[[[[]], 0]]", r"the label is \(\[\],\); expected a set of proposition names"),
        ("[[null, 0]]", "the label is None"),
        ('[[[], "1"]]', "expected a number between"),
        ("[[[], true]]", "the reward True"),
        ("[[[], NaN]]", "expected a number between"),
        ("[[[], 1e200]]", "expected a number between"),
        ('[[{"item": false}, 0.0]]', "the label is {'item': False}"),
        (f'[[["item"], 1{"0" * 400}]]', "expected a number between"),
        (f'[[["item"], 1{"0" * 5000}]]', "not JSON"),
    ],
)
def test_a_mistake_is_shown_with_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(f"[[[], 1]]\n\n{line}\n")
    with pytest.raises(PraemiaError, match=message) as caught:
        load_traces(path)
    assert f"{path}:3:" in str(caught.value)


def test_a_file_without_episodes_or_without_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("\n\n")
    with pytest.raises(ModelError, match=r"traces\.jsonl: no episode"):
        load_traces(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="not a text file"):
        load_traces(path)
    with pytest.raises(FileError, match="cannot be read"):
        load_traces(tmp_path / "missing.jsonl")


def test_rewards_that_never_repeat_are_refused() -> None:
    with pytest.raises(ModelError, match="different rewards"):
        as_traces([[(set(), i / 7)] for i in range(2_000)])


def test_more_than_memory_holds_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("praemia._support.limits.memory_limit", lambda: 1 << 12)
    with pytest.raises(SizeError, match="fewer or shorter episodes"):
        as_traces([[(set(), 0.0)] * 1_000, [(set(), 1.0)]])


@pytest.mark.parametrize("traces", ["traces.jsonl", 3, None])
def test_what_is_no_list_of_episodes_is_refused(traces: object) -> None:
    with pytest.raises(ModelError, match="expected a list of episodes"):
        as_traces(traces)  # type: ignore[arg-type]
