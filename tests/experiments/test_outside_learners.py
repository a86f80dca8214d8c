"""Learners from outside wherever a learner is named: commands, workers, a Dask cluster, the store."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from learner_files import ALL, DIVIDES_LINE, HEAD, LEAST_TRIED
from sweeps import PATIENCE, contents, start

from praemia.cli import execute
from praemia.errors import LearnerFailure, ParameterError, PraemiaError
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.loading import Changes, load_experiment
from praemia.experiments.runner import perform
from praemia.experiments.store import StoredRuns
from praemia.learners.external import LearnerCode

RIVER = TaskText.builtin("riverswim-5")
SHORT = ("--episodes", "100", "--runs", "2")


EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE_LEARNERS = tuple(f"{EXAMPLES / 'own_learner.py'}:{kind}" for kind in ("Bernstein", "Tighter"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(ALL)
    return path


def write_experiment(file: Path, *learners: str) -> Path:
    path = file.parent / "exp.yaml"
    path.write_text(f"tasks: [riverswim-5]\nlearners: [{', '.join(learners)}]\nruns: 4\nepisodes: 100\n")
    return path


# The store


def test_a_stored_run_names_the_class_and_a_digest_of_the_file(file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert execute(["run", "riverswim-5", "--learner", f"{file}:LeastTried", *SHORT, "--out", str(store)]) == 0
    runs = list(StoredRuns.open(store).runs())
    assert len(runs) == 2
    assert {run.learner for run in runs} == {"least-tried"}
    digest = LearnerCode.read(f"{file}:LeastTried").digest
    assert {run.origin for run in runs} == {f"{file}:LeastTried@{digest}"}
    assert not any(ALL.encode() in path.read_bytes() for path in store.rglob("*") if path.is_file())


def test_another_text_gives_another_folder_and_the_same_text_none(file: Path, tmp_path: Path) -> None:
    arguments = ["run", "riverswim-5", "--learner", f"{file}:LeastTried", *SHORT, "--out", str(tmp_path / "store")]
    for text, expected in ((ALL, 2), (ALL, 2), (ALL + "# another text\n", 4)):
        file.write_text(text)
        assert execute(arguments) == 0
        assert len(contents(tmp_path / "store")) == expected


# Where the work is done


@pytest.mark.slow
def test_one_process_two_workers_and_a_cluster_give_the_same_bytes(
    file: Path, tmp_path: Path, cluster: tuple[Path, list[subprocess.Popen[bytes]]]
) -> None:
    experiment = write_experiment(file, "mine.py:LeastTried", "mine.py:Divides", "random")
    found = []
    for place, options in enumerate((("--jobs", "1"), ("--jobs", "2"), ("--engine", str(cluster[0])))):
        sweep = start(experiment, tmp_path / f"store-{place}", *options)
        _, errors = sweep.communicate(timeout=PATIENCE)
        assert sweep.returncode == 1
        assert errors.splitlines()[-1].startswith("error: learner 'divides' failed: ZeroDivisionError")
        found.append(contents(tmp_path / f"store-{place}"))
    assert len(found[0]) == 8
    assert found[0] == found[1] == found[2]


# Only the process that runs the file knows this class, and it cannot be made again from its arguments.
OWN_ERROR = """

class Own(Exception):
    def __init__(self, first, second):
        super().__init__(first)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_learner_that_raises_is_one_line_and_the_others_runs_are_kept_and_shown(
    jobs: str, file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file.write_text(ALL.replace("return 1 // 0", "raise Own('in vain', 2)") + OWN_ERROR)
    both = ["--learner", f"{file}:Divides", "--learner", f"{file}:LeastTried"]
    assert execute(["run", "riverswim-5", *both, *SHORT, "--jobs", jobs, "--out", str(tmp_path / "store")]) == 1
    shown = capfd.readouterr()
    assert "least-tried" in shown.out
    expected = f"error: learner 'divides' failed: Own: in vain (mine.py:{DIVIDES_LINE}), in 2 runs"
    assert shown.err.splitlines()[-1] == expected
    assert "Traceback" not in shown.err
    assert {run.learner for run in StoredRuns.open(tmp_path / "store").runs()} == {"least-tried"}


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_wrong_plan_is_refused_by_name_with_status_2(
    jobs: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", "riverswim-5", "--learner", f"{file}:OutOfRange", *SHORT, "--jobs", jobs]) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == "error: learner 'out-of-range' returned a policy with actions 99 … 99; expected 0 … 1, in 2 runs"


def test_in_python_a_learner_raises_its_own_error(file: Path) -> None:
    import praemia

    with pytest.raises(ZeroDivisionError):
        praemia.simulate(praemia.envs.make("riverswim-5"), praemia.learners.make(f"{file}:Divides"), 10)


def test_a_constructor_that_raises_is_the_learners_failure(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(ALL.replace("    prior: float", "    def __post_init__(self):\n        [][1]\n\n    prior: float"))
    with pytest.raises(LearnerFailure, match=r"'least-tried' failed: IndexError: .* \(mine\.py:\d+\)"):
        LearnerChoice.of(f"{file}:LeastTried")
    assert execute(["run", "riverswim-5", "--learner", f"{file}:LeastTried"]) == 1
    assert capfd.readouterr().err.startswith("error: learner 'least-tried' failed: IndexError")


def test_a_bug_of_our_own_is_not_taken_for_the_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr("praemia.experiments.runner.simulate", broken)
    with pytest.raises(IndexError, match="a bug"):
        perform(Job(RIVER, LearnerChoice.of("random"), 10, (0, 0)))


MAIN = """
import praemia, sys
from praemia.experiments.runner import run_in_memory
from praemia.experiments.jobs import Job, LearnerChoice, TaskText

if __name__ == "__main__":
    praemia.learners.register(LeastTried)
    jobs = [Job(TaskText.builtin("riverswim-5"), LearnerChoice.of("least-tried"), 20, (0, run)) for run in (0, 1)]
    try:
        print(len(run_in_memory(jobs, num_workers=int(sys.argv[1]))[0]))
    except praemia.PraemiaError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ("1", "2\n"),
        (
            "2",
            "learner 'least-tried' is __main__:LeastTried, which worker processes cannot import; put it in a file of "
            "its own, or run with jobs=1\n",
        ),
    ],
)
def test_a_class_of_the_main_script_is_for_this_process_only(workers: str, expected: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(ALL + MAIN)
    done = subprocess.run([sys.executable, str(script), workers], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == expected, done.stderr


def test_a_class_of_a_module_is_imported_by_the_workers(tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text(ALL)
    script = tmp_path / "script.py"
    script.write_text("from my_module import LeastTried\n" + MAIN)
    done = subprocess.run([sys.executable, str(script), "2"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "2\n", done.stderr


def test_a_module_of_another_version_is_refused_where_the_work_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_versions.py").write_text(ALL)
    monkeypatch.syspath_prepend(str(tmp_path))
    code = LearnerCode("my_versions", "LeastTried", "0" * 12)
    with pytest.raises(ParameterError, match="my_versions:LeastTried is of another version here"):
        code.load()
    with pytest.raises(ParameterError, match=r"cannot be imported here .* file\.py:Class"):
        LearnerCode("my_versions", "Nobody", "0" * 12).load()


# Experiment files, the league


def test_an_experiment_file_runs_code_only_if_allowed(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text("raise SystemExit('executed')\n" + ALL)
    for item in ("mine.py:LeastTried", "{learner: mine.py:LeastTried, prior: 2.0}"):
        experiment = write_experiment(file, item)
        with pytest.raises(PraemiaError, match=r"exp\.yaml:2: learner .* is Python code.*--allow-code"):
            load_experiment(experiment)
        out = file.parent / "out"
        assert execute(["experiment", str(experiment), "--out", str(out)]) == 2
        assert capfd.readouterr().err.count("\n") == 1
        assert not out.exists()
    with pytest.raises(PraemiaError, match=r"exp\.yaml:2: .*mine\.py:1: cannot be imported: SystemExit"):
        load_experiment(experiment, allow_code=True)


def test_the_file_is_looked_for_beside_the_experiment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = write_experiment(file, "{learner: mine.py:LeastTried, prior: 2.0, title: mine}")
    monkeypatch.chdir("/")
    (job,) = load_experiment(experiment, allow_code=True).groups[0].cells.values()
    assert (job.learner.name, job.learner.title, job.learner.parameters["prior"]) == ("least-tried", "mine", 2.0)


def test_a_learner_of_the_file_may_be_named_as_the_file_names_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = write_experiment(file, "mine.py:LeastTried")
    monkeypatch.chdir(file.parent)
    changes = Changes(learners=["mine.py:LeastTried"], runs=1)
    (job,) = load_experiment(experiment, changes, allow_code=True).jobs()
    assert job.learner.name == "least-tried"


def test_two_files_with_learners_of_one_name_are_an_error_that_names_both(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(ALL)
    experiment = write_experiment(file, "mine.py:LeastTried", "other.py:LeastTried")
    with pytest.raises(PraemiaError, match=r"two learners with the title 'least-tried'.*mine\.py.* and .*other\.py"):
        load_experiment(experiment, allow_code=True)


def test_a_learner_from_a_file_joins_the_league(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    players = [f"{file}:LeastTried", f"{file}:Divides", "eqo", *EXAMPLE_LEARNERS]
    names, out = [word for name in players for word in ("--learner", name)], tmp_path / "league"
    where = ["--jobs", "1", "--out", str(out), "--json"]
    assert execute(["experiment", "league", "--task", "riverswim-5", *names, *SHORT, *where]) == 1
    shown = capfd.readouterr()
    (group,) = json.loads(shown.out)["groups"]
    assert {row["learner"] for row in group["results"]} == {"least-tried", "eqo", "bernstein", "tighter"}
    assert shown.err.splitlines()[-1].startswith("error: learner 'divides' failed")
    assert f"{file}:LeastTried@" in (out / "report.html").read_text()


def test_a_point_of_a_grid_that_raises_leaves_the_others(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    picky = LEAST_TRIED.replace("        spec =", "        1 // (self.prior < 2)\n        spec =")
    (tmp_path / "picky.py").write_text(HEAD + picky)
    experiment = write_experiment(tmp_path / "picky.py", "{learner: picky.py:LeastTried, prior: [0.5, 1, 2]}")
    where = ["--allow-code", "--jobs", "1", "--out", str(tmp_path / "out"), *SHORT]
    assert execute(["experiment", str(experiment), *where, "--json"]) == 1
    shown = capfd.readouterr()
    (group,) = json.loads(shown.out)["groups"]
    assert {row["parameters"]["prior"] for row in group["results"]} == {0.5, 1}
    assert "error: learner 'least-tried' failed" in shown.err


def test_a_parameter_that_is_no_data_is_refused_by_name(file: Path) -> None:
    file.write_text(ALL.replace("    prior: float", "    strange: object = object()\n    prior: float"))
    with pytest.raises(ParameterError, match="'least-tried': parameter 'strange' is <object"):
        LearnerChoice.of(f"{file}:LeastTried")
