"""What documents say that their code prints is compared with what it prints, and can be written anew."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "shown_output.py"))

DOCUMENT = """Text.

```python
print(1 + 1)  # 3
for i in range(2):
    print(i)
# 5
# 1
```

```console
$ make reproduce
$ praemia envs warehouse-4 --json
{}
```

```sh
praemia --version
```
"""


def parts(language: str, block: str) -> list[tuple[str, str | None]]:
    return [(part.source, part.shown) for part in TOOL["parts"](language, block)]


def test_a_console_block_shows_all_output_and_a_block_of_sh_none() -> None:
    assert parts("console", "$ praemia a\nx\ny\n$ make b\nz\n$ praemia c\n") == [
        ("praemia a", "x\ny\n"),
        ("praemia c", ""),
    ]
    assert parts("sh", "praemia a\n# a comment\n") == [("praemia a", None)]


def test_comments_after_a_print_and_whole_lines_are_what_python_prints() -> None:
    assert parts("python", "x = 1  # one\nprint(x)  # 1\n# 2\n") == [("x = 1  # one\nprint(x)  # 1\n# 2\n", "1\n2\n")]
    assert parts("python", "x = 1  # one\n") == [("x = 1  # one\n", None)]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("regret  3.1  \n\n0.9 s in total", "regret  3.1\n\n12.0 s in total\n"),
        ("regret  s per run\n   3.1       0.25\n", "regret  s per run\n   3.1          4\n"),
        ("value 0.12345678", "value 0.12345699"),
    ],
)
def test_times_and_last_digits_may_differ(shown: str, printed: str) -> None:
    TOOL["require_agreement"](TOOL["Part"]("console", "praemia x", shown), printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("", "something\n"),
        ("regret  3.1\n", "regret 3.2\n"),
        ("regret  3.1\n", "regret 3.1\nmore\n"),
        ("regret  3.1\n", "regret   3.1\n"),
        ("regret  s per run\n   3.1       0.25\n", "regret  s per run\n   3.2       0.25\n"),
    ],
)
def test_anything_else_may_not(shown: str, printed: str) -> None:
    with pytest.raises(AssertionError, match="prints"):
        TOOL["require_agreement"](TOOL["Part"]("console", "praemia x", shown), printed)


def test_a_document_is_written_with_what_its_code_prints() -> None:
    text = TOOL["rewritten"](DOCUMENT)
    assert "print(1 + 1)  # 2\n" in text
    assert "# 0\n# 1\n" in text
    assert '$ make reproduce\n$ praemia envs warehouse-4 --json\n{"' in text
    assert TOOL["rewritten"](text) == text


def test_code_that_prints_more_or_fewer_lines_than_shown_is_left_to_the_writer() -> None:
    with pytest.raises(AssertionError, match="prints"):
        TOOL["rewritten"]("```python\nprint(1)  # 1\nprint(2)\n```\n")
