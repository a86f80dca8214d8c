"""Generate parts of the site from the code: Python names, learners, commands, the files in examples/."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from site_diagrams import picture
from site_docstrings import literal, standard
from site_links import LEARNER, anchor_of

from examples import public_names
from praemia import cli
from praemia.cli.tasks import describe_learner
from praemia.learners.registry import BUILT_IN

PATTERN_CALL = re.compile(r">>> patterns\.(\w+)\((.*?)\)")
# The packages that define public names, and what their names are for, in the order of the index.
GROUPS = {
    "tasks": "Tasks",
    "machines": "Machines",
    "patterns": "Machines",
    "files": "Files",
    "envs": "Environments",
    "policies": "Plan",
    "planning": "Plan",
    "pictures": "Plan",
    "simulation": "Learn",
    "comparison": "Learn",
    "experiments": "Learn",
    "report": "Learn",
    "learners": "Learners",
    "_support": "Learners",
    "testing": "Learners",
    "deep": "Learners",
    "exploration": "Explore first, decide later",
    "inference": "Infer a machine",
    "theory": "Theory",
    "errors": "Errors",
}
UNLIMITED = 1e9  # a parameter's upper limit that is none
LANGUAGES = {".py": "python", ".yaml": "yaml"}


def groups() -> dict[str, list[str]]:
    """Return all public names by what they are for."""
    grouped: dict[str, list[str]] = {title: [] for title in GROUPS.values()}
    for name, thing in sorted(public_names().items()):
        grouped[GROUPS[thing.__module__.split(".")[1]]].append(name)
    return grouped


def index_page() -> str:
    """Return the index of all public names, each with the first sentence of its docstring."""
    names = public_names()
    sections = []
    for title, members in groups().items():
        rows = [f"| [{short(name)}]({name}.md) | {summary(names[name])} |" for name in members]
        sections.append("\n".join([f"## {title}\n", "| name | what it is for |", "|---|---|", *rows]))
    return "\n\n".join(["# Python\n\nAll public names, without the `praemia.` in front.", *sections]) + "\n"


def navigation() -> list[dict[str, Any]]:
    """Return the part of the site's navigation below the index."""
    return [{title: [{short(name): f"reference/{name}.md"} for name in names]} for title, names in groups().items()]


def short(name: str) -> str:
    """Return a public name without that of the package."""
    return name.removeprefix("praemia.")


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = re.split(r"(?<=\w)(?:\. (?=[A-Z])|: )", first)[0].removesuffix(".")
    return literal(sentence.replace("|", "&#124;"))


def name_page(name: str, thing: Any) -> str:
    """Return the page of a public name: a directive that mkdocstrings fills in.

    The directive names the defining module, because some packages have a module and a function of the same name.
    A pattern also shows the machine of its example, a learner the table of its parameters.
    """
    shown = (
        f"::: {thing.__module__}.{thing.__qualname__}\n    options:\n      heading: {name}\n      toc_label: {name}\n"
    )
    built_in = [own for own, place in BUILT_IN.items() if place == f"{thing.__module__}:{thing.__qualname__}"]
    if built_in:  # what a subclass of Learner takes is known when it is made, and the rest is for the simulation
        shown += "      show_signature: false\n      members: false\n"
    example = PATTERN_CALL.search(inspect.getdoc(thing) or "")
    shown += f"\n{picture(*example.groups())}\n" if example else ""
    return "\n".join([shown, *map(parameters, built_in)])


def with_learners(text: str) -> str:
    """Replace each line that only links to a learner's module by what the module says, with its parameters."""
    return re.sub(rf"^\[[^]]*\]\((?:\.\./)*{LEARNER}\)$", lambda found: learner(found[1]), text, flags=re.MULTILINE)


def learner(module: str) -> str:
    """Return the docstring of a learner's module, and the parameters of the learners in it."""
    home = f"praemia.learners.{module}"
    text = standard(inspect.getdoc(import_module(home)) or "")
    text = re.sub(
        r"\bdocs/(\w+)/([\w-]+)\.md", lambda link: f"[{link[2].capitalize()}](../{link[1]}/{link[2]}.md)", text
    )
    names = [name for name, place in BUILT_IN.items() if place.partition(":")[0] == home]
    return "\n\n".join([f'<span id="{anchor_of(module)}"></span>', text, *map(parameters, names)])


def parameters(name: str) -> str:
    """Return the parameters of a learner as the table that ``praemia learners NAME`` prints."""
    rows = [f"**Parameters of `{name}`**\n", "| parameter | default | what it does |", "|---|---|---|"]
    for item in describe_learner(name)["parameters"]:
        low, high = item["range"] or (None, UNLIMITED)
        ends = "" if low is None else f"; at least {low:g}" if high >= UNLIMITED else f"; {low:g} to {high:g}"
        rows.append(f"| `{item['name']}` | `{item['default']}` | {item['help']}{ends} |")
    return "\n".join(rows)


def commands_page() -> str:
    """Return the page of all commands: the help of each."""
    context = click.Context(cli.praemia, info_name="praemia")
    sections = ["# Commands\n\n`praemia COMMAND --help` prints the same."]
    for name in sorted(cli.COMMANDS):
        command = cli.praemia.get_command(context, name)
        assert command is not None
        text = command.get_help(click.Context(command, info_name=name, parent=context))
        sections.append(f"## praemia {name}\n\n```text\n{text}\n```")
    return "\n\n".join(sections) + "\n"


def examples_page(folder: Path) -> str:
    """Return the page that shows the files in examples/."""
    opening = "# Examples\n\nThe files in `examples/`. The tests run them."
    files = sorted(path for path in folder.iterdir() if path.suffix in LANGUAGES)
    shown = [f"## {path.name}\n\n```{LANGUAGES[path.suffix]}\n{path.read_text(encoding='utf-8')}```" for path in files]
    return "\n\n".join([opening, *shown]) + "\n"


def pages(root: Path) -> dict[str, str]:
    """Return the text of every generated page."""
    return {
        "reference/python.md": index_page(),
        **{f"reference/{name}.md": name_page(name, thing) for name, thing in public_names().items()},
        "reference/commands.md": commands_page(),
        "reference/examples.md": examples_page(root / "examples"),
    }
