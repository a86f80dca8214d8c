"""Everything that reads gives a result or one message, whatever it is given; ``make fuzz-readers`` tries far more."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from praemia.files.resolving import looks_like_file

TOOL = Path(__file__).parents[2] / "tools" / "fuzz_readers.py"


@pytest.mark.filterwarnings("ignore")
def test_every_reader_refuses_damaged_inputs_with_a_message(tmp_path, capsys) -> None:
    pytest.importorskip("resource", reason="limits of memory and time need a POSIX system")
    spec = importlib.util.spec_from_file_location("fuzz_readers", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.SECONDS = 600.0  # how long a case takes is not tested here
    readers = tool.all_readers(tmp_path)
    assert len(readers) >= 15
    for name, reader in readers.items():
        for example in reader.examples:
            reader.read(example)  # valid as it is
        assert tool.try_reader(name, reader, seed=5, cases=40) == 0, capsys.readouterr().out


def test_a_name_too_long_for_a_file_is_no_file() -> None:
    assert not looks_like_file("warehouse" + "(" * 5_000)
