"""Text files without the line of terminal states are read as the loader that they were written for reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import praemia


def read(folder: Path, *lines: str) -> praemia.RewardMachine:
    file = folder / "machine.txt"
    file.write_text("\n".join(("0", *lines)) + "\n", encoding="utf-8")
    return praemia.load_machine(file)


def edge(source: int, target: int, guard: str, reward: float) -> str:
    return f"({source},{target},'{guard}',ConstantRewardFunction({reward}))"


def test_a_state_without_lines_is_the_end(tmp_path: Path) -> None:
    machine = read(tmp_path, edge(0, 0, "!a", 0), edge(0, 1, "a", 1))
    assert machine.expected_rewards([set(), {"a"}, {"a"}, set()]).tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("paid", [0, 5])
def test_a_state_that_only_leads_to_itself_on_everything_is_the_end_whatever_its_line_pays(
    paid: int, tmp_path: Path
) -> None:
    machine = read(tmp_path, edge(0, 0, "!a", 0), edge(0, 1, "a", 1), edge(1, 1, "True", paid))
    assert machine.expected_rewards([{"a"}, set(), {"a"}]).tolist() == [1.0, 0.0, 0.0]


def test_a_state_that_leads_to_itself_on_something_is_not_the_end(tmp_path: Path) -> None:
    machine = read(tmp_path, edge(0, 1, "a", 1), edge(0, 0, "!a", 0), edge(1, 1, "b", 2))
    assert machine.expected_rewards([{"a"}, {"b"}, {"b"}]).tolist() == [1.0, 2.0, 2.0]


def test_a_state_that_can_be_left_is_not_the_end(tmp_path: Path) -> None:
    lines = (edge(0, 1, "a", 1), edge(0, 0, "!a", 0), edge(1, 0, "b", 3), edge(1, 1, "True", 0))
    assert read(tmp_path, *lines).expected_rewards([{"a"}, {"b"}, {"a"}]).tolist() == [1.0, 3.0, 1.0]


def test_where_no_line_holds_the_episode_ends_unpaid(tmp_path: Path) -> None:
    machine = read(tmp_path, edge(0, 1, "a", 1), edge(1, 0, "b", 2))
    assert machine.expected_rewards([set(), {"a"}, {"b"}]).tolist() == [0.0, 0.0, 0.0]
    assert machine.expected_rewards([{"a"}, {"a"}, {"b"}]).tolist() == [1.0, 0.0, 0.0]
    assert machine.expected_rewards([{"a"}, {"b"}, {"a"}]).tolist() == [1.0, 2.0, 1.0]


def test_several_ends_are_one(tmp_path: Path) -> None:
    lines = (edge(0, 1, "a", 1), edge(0, 2, "b&!a", 2), edge(0, 0, "!a&!b", 0), edge(2, 2, "True", 0))
    machine = read(tmp_path, *lines)
    assert machine.num_states == 2
    assert machine.expected_rewards([{"b"}, {"a"}]).tolist() == [2.0, 0.0]


def test_a_file_with_the_line_is_read_as_before(tmp_path: Path) -> None:
    machine = read(tmp_path, "[1]", edge(0, 0, "!a", 0), edge(0, 1, "a", 1), edge(1, 0, "True", 5))
    assert machine.expected_rewards([{"a"}, set()]).tolist() == [1.0, 0.0]
