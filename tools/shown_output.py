"""What a document says that its code prints, and whether it does."""

from __future__ import annotations

import doctest
import re


def blocks(text: str, *languages: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a document in some languages, in order, as (language, text)."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(language, block) for language, block in found if language in languages]


def printed_in_comments(code: str) -> str:
    """Return what a block says that it prints: comments after a ``print``, and comments that are a whole line."""
    lines = []
    for line in code.splitlines():
        if line.startswith("# "):
            lines.append(line[2:])
        elif "print(" in line and "  # " in line:
            lines.append(line.rpartition("  # ")[2])
    return "".join(f"{line}\n" for line in lines)


def commands(text: str) -> list[tuple[str, str]]:
    """Return the ``praemia`` commands of a console block, each with the output that is shown, or "" for none."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(("$ ", "praemia ")):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return [
        (command, "".join(f"{line}\n" for line in shown)) for command, shown in found if command.startswith("praemia ")
    ]


def require_agreement(source: str, shown: str, got: str) -> None:
    """Refuse output that is not as shown, if any is shown; ``…`` stands for anything."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if shown and not doctest.OutputChecker().check_output(shown.replace("…", "..."), got, flags):
        raise AssertionError(f"{source}\nprints:\n{got}")
