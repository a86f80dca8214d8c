"""Files written whole: who may read them, and what is left behind."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from praemia.errors import FileError
from praemia.files.atomic_io import write_whole


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002, 0o027])
def test_a_new_file_has_the_permissions_of_any_other_new_file(tmp_path: Path, mask: int) -> None:
    with _umask(mask):
        write_whole(tmp_path / "whole", b"data")
        (tmp_path / "other").write_bytes(b"data")
    assert _mode(tmp_path / "whole") == _mode(tmp_path / "other") == 0o666 & ~mask


@pytest.mark.parametrize("mask", [0o022, 0o077])
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_that_was_there_keeps_its_permissions(tmp_path: Path, mask: int, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with _umask(mask):
        write_whole(path, b"new")
    assert (path.read_bytes(), _mode(path)) == (b"new", mode)


def test_a_private_file_is_never_readable_by_others_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, modes = tmp_path / "file", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    monkeypatch.setattr(os, "fsync", lambda handle: modes.append(stat.S_IMODE(os.fstat(handle).st_mode)))
    with _umask(0):
        write_whole(path, b"new")
    assert modes == [0o600]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "absent" / "file"):
        with pytest.raises(FileError, match="cannot be written"):
            write_whole(path, b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
