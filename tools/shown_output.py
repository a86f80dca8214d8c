"""What documents say that their code prints: ``python tools/shown_output.py FILE …`` runs it and writes its output.

A ``console`` block shows each command with all that it prints; an ``sh`` block shows commands alone. In Python, a
comment after a ``print``, or one that is a whole line, is a line that is printed. The tests compare, except seconds.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LANGUAGES = ("python", "console", "sh")
SECONDS = re.compile(r"\b\d[\d.,]* (s|ms|min)\b")
DIGITS = re.compile(r"(\.\d{6})\d+")  # not all of them are the same on every processor
TIME_COLUMN = "s per run"  # the last one of a table


class Part(NamedTuple):
    """A Python block or a command, and what the document says that it prints; None if it says nothing."""

    language: str
    source: str
    shown: str | None


def blocks(text: str, *languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a document in some languages, in order, as (language, text)."""
    return [(language, block) for language, block in FENCE.findall(text) if language in languages]


def parts(language: str, block: str) -> list[Part]:
    """Return what a block runs: the block itself, or the ``praemia`` commands in it."""
    if language == "python":
        shown = "".join(f"{line}\n" for line in _comments(block))
        return [Part(language, block, shown or None)]
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith(("$ ", "praemia ")):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return [
        Part(language, command, "".join(f"{line}\n" for line in lines) if language == "console" else None)
        for command, lines in found
        if command.startswith("praemia ")
    ]


def _comments(code: str) -> Iterator[str]:
    for line in code.splitlines():
        if line.startswith("# "):
            yield line[2:]
        elif "print(" in line and "  # " in line:
            yield line.rpartition("  # ")[2]


def run(part: Part, namespace: dict[str, Any]) -> str:
    """Run a part of a document, in the present folder, and return what it prints."""
    from praemia import cli

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if part.language == "python":
            exec(compile(part.source, "a block of a document", "exec", dont_inherit=True), namespace)
        else:
            arguments = shlex.split(part.source, comments=True)[1:]
            cli.praemia.main(arguments, prog_name="praemia", standalone_mode=False)
    return printed.getvalue()


def require_agreement(part: Part, printed: str) -> None:
    """Refuse output that is not as shown."""
    if part.shown is not None and timeless(part.shown) != timeless(printed):
        remedy = "if this is right, python tools/shown_output.py FILE writes it into the document"
        raise AssertionError(f"{part.source}\nprints:\n{printed}\n{remedy}")


def timeless(text: str) -> str:
    """Return a text without the seconds in it, which are never the same, and the last digits."""
    lines, is_timed = [], False
    for line in map(str.rstrip, text.splitlines()):
        is_timed = bool(line) and (is_timed or line.endswith(TIME_COLUMN))
        lines.append(line.rpartition(" ")[0].rstrip() if is_timed else line)
    return DIGITS.sub(r"\1", SECONDS.sub(r"… \1", "\n".join(lines).strip()))


def rewritten(text: str) -> str:
    """Run all code of a document in order, and return the document with what it printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}

    def block(found: re.Match[str]) -> str:
        language, content = found.groups()
        if language in LANGUAGES:
            for part in parts(language, content):
                content = _with_output(part, content, run(part, namespace))
        return f"```{language}\n{content}```"

    return FENCE.sub(block, text)


def _with_output(part: Part, content: str, printed: str) -> str:
    """Return a block with what one of its parts printed in place of what was shown."""
    if part.shown is None or timeless(part.shown) == timeless(printed):
        return content
    if part.language == "console":
        shown = "".join(f"{line}\n" for line in map(str.rstrip, printed.splitlines()))
        return content.replace(f"{part.source}\n{part.shown}", f"{part.source}\n{shown}")
    old, new = list(_comments(part.source)), printed.rstrip().splitlines()
    if len(old) != len(new):
        raise AssertionError(f"{part.source}\nprints:\n{printed}")
    for before, after in zip(old, new, strict=True):
        content = content.replace(f"# {before}\n", f"# {after}\n", 1)
    return content


def main(files: list[str]) -> None:
    """Rewrite documents."""
    examples = Path(__file__).parents[1] / "examples"
    for path in [Path(file).resolve() for file in files]:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(examples, Path(folder) / "examples")
            os.chdir(folder)
            path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
