"""Which figures are drawn for which experiment, and the files they are written to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from praemia.drawing import figures
from praemia.drawing.league_figure import league_figure
from praemia.drawing.style import save
from praemia.errors import FileError, MissingExtraError
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.settings import slug
from praemia.machines.machine import RewardMachine
from praemia.pictures.diagrams import draw_machine
from praemia.pictures.policy_page import has_map
from praemia.pictures.show import show
from praemia.statistics.standings import boards, standings
from praemia.statistics.stored_runs import Series, Study
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_MACHINE = 20  # machine states; a larger diagram cannot be read
SIZES = {
    "machine-size": ("machine states", lambda task: task.num_machine_states),
    "horizon": ("horizon", lambda task: task.horizon),
    "river-length": ("observations", lambda task: task.num_observations),
}
FAMILIES = {"riverswim": "RiverSwim", "warehouse": "Warehouse"}


def write_figures(studies: Iterable[Study], folder: Path) -> list[Path]:
    """Draw all figures of some studies into a folder, as PNG and SVG; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = []
        studies = list(studies)
        for study in studies:
            for name, figure in study_figures(study):
                written += save(figure, folder / name)
        for task in paper_tasks(studies):
            if has_map(task):
                written += _write_map(task, folder / f"map-{slug(task.name)}")
        return written + _write_machines(studies, folder)
    except OSError as error:
        raise FileError(f"cannot write figures to {str(folder)!r}: {error.strerror}") from None


def study_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figures of a study, each with a name for its file."""
    if study.name in SIZES:
        across, size = SIZES[study.name]
        yield study.name, figures.scaling_figure(study.settings, study.purpose.capitalize(), across, size)
        return
    if study.name == LEAGUE:
        board, _ = boards(study.settings)
        if board.learners:
            yield LEAGUE, league_figure(board, standings(board))
        return
    if study.name == "tuning":
        return  # 24 curves in a panel say nothing; the report has their table
    if study.name == "paper":
        for family, members in _families(study).items():
            title = f"{FAMILIES.get(family, family)}: exact regret, mean and its 95 % interval"
            yield f"regret-{family}", figures.regret_figure(members, title)
    else:
        yield f"regret-{study.name}", figures.regret_figure(study.settings, f"{study.purpose}: exact regret")
    yield f"log-{study.name}", figures.log_figure(study.settings, "Exact regret on log–log axes")
    yield f"per-episode-{study.name}", figures.per_episode_figure(study.settings, "Exact regret per episode")


def paper_tasks(studies: Iterable[Study]) -> list[Task]:
    """Return the tasks of the paper that have runs; those of the other studies where there are none."""
    studies = list(studies)
    chosen = [study for study in studies if study.name == "paper"] or studies
    return [members[0].model for study in chosen for members in study.settings.values()]


def machines(studies: Iterable[Study]) -> dict[str, RewardMachine]:
    """Return the machines that are small enough to draw, each once, by the name of the first task that has it."""
    found: dict[str, RewardMachine] = {}
    for study in studies:
        for members in study.settings.values():
            machine = members[0].model.machine
            small = machine.num_states <= MAX_MACHINE
            if small and not any(known.rules == machine.rules for known in found.values()):
                found[members[0].task] = machine
    return found


def _families(study: Study) -> dict[str, dict[str, list[Series]]]:
    families: dict[str, dict[str, list[Series]]] = {}
    for setting, members in study.settings.items():
        families.setdefault(setting.split("-")[0], {})[setting] = members
    return families


def _write_map(task: Task, stem: Path) -> list[Path]:
    paths = [stem.with_name(f"{stem.name}.{form}") for form in ("png", "svg")]
    picture = show(task)
    for path in paths:
        picture.save(path)
    return paths


def _write_machines(studies: Iterable[Study], folder: Path) -> list[Path]:
    written = []
    for name, machine in machines(studies).items():
        stem = folder / f"machine-{slug(name)}"
        try:
            written += [draw_machine(machine, stem.with_suffix(f".{form}")) for form in ("png", "svg")]
        except MissingExtraError:
            written.append(draw_machine(machine, stem.with_suffix(".mmd")))
    return written
