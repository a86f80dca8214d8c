"""``praemia infer``, ``praemia check`` for traces, and drawings: files in, files out, one message for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium
import pytest
from machine_traces import played_traces

import praemia
from praemia.cli import execute


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    task = praemia.envs.riverswim(size=3, horizon=12)
    played = played_traces(task, 300)
    path = tmp_path / "traces.jsonl"
    lines = [json.dumps([[sorted(label), reward] for label, reward in episode]) for episode in played]
    path.write_text("\n".join(lines))
    return path


def test_infer_writes_a_machine_that_is_right(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = traces.with_name("machine.yaml")
    assert execute(["infer", str(traces), "-o", str(out), "--truth", "riverswim-3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["states"], record["smallest"], record["right"]) == (2, True, True)
    assert sum(edge["count"] for edge in record["edges"]) == record["steps"] == 300 * 12
    assert praemia.load_machine(out).num_states == 2


def test_a_drawing_shows_support_and_marks_what_differs_from_the_truth(traces: Path) -> None:
    right, wrong = traces.with_name("right.svg"), traces.with_name("wrong.svg")
    other = traces.with_name("other.yaml")
    praemia.save_machine(praemia.MachineBuilder("idle").edge("idle", "right-end", "idle", reward=1).build(), other)
    assert execute(["infer", str(traces), "--draw", str(right), "--truth", "riverswim-3"]) == 0
    assert execute(["infer", str(traces), "--draw", str(wrong), "--truth", str(other)]) == 0
    assert "×" in right.read_text()
    assert "out" in right.read_text()
    assert "#d55e00" not in right.read_text()
    assert "#d55e00" in wrong.read_text()


def test_what_a_wrapped_environment_records_is_checked_and_inferred(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FrozenLake with a machine around it: the recorder's file is read by check and infer, and gives that machine."""
    path = tmp_path / "traces.jsonl"
    machine = (
        praemia.MachineBuilder("out", ("left", "right"))
        .edge("out", "right", "back")
        .edge("back", "left", "out", reward=1)
        .build()
    )
    env = praemia.MachineWrapper(
        gymnasium.make("FrozenLake-v1", is_slippery=True),
        lambda o, a, z, info: {"left"} if z % 4 == 0 else {"right"} if z % 4 == 3 else set(),
        machine,
        record=path,
    )
    env.action_space.seed(0)
    for episode in range(400):
        env.reset(seed=episode)
        ended = False
        while not ended:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = terminated or truncated
    env.close()
    truth = tmp_path / "truth.yaml"
    praemia.save_machine(machine, truth)
    assert execute(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 400
    assert execute(["infer", str(path), "--truth", str(truth), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["right"]


@pytest.mark.parametrize("command", ["check", "infer"])
def test_a_bad_line_is_one_message_and_nothing_is_written(
    traces: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    traces.write_text('[[["a"], 0]]\n[[["a"], "much"]]\n')
    out = traces.with_name("machine.yaml")
    extra = ["-o", str(out)] if command == "infer" else []
    assert execute([command, str(traces), *extra]) == 2
    captured = capsys.readouterr()
    assert f"{traces}:2: step 1: the reward 'much'" in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert not out.exists()


def test_a_contradiction_names_two_lines(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces.write_text("[[[], 0]]\n[[[], 1]]\n")
    assert execute(["infer", str(traces), "--deterministic"]) == 2
    assert f"{traces}:1 and {traces}:2" in capsys.readouterr().err
