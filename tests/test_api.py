"""The public Python API: what `import heredity` offers, run on real small suites."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.experiments.sample import isolated

import heredity
from heredity import Best, Suite
from heredity._api import Files
from heredity.records.lock import RunLock
from heredity.sandbox.bubblewrap_root import available

ROOT = Path(__file__).parents[1]
SMALL: dict[str, Any] = {
    "run": {"name": "small", "tasksets": ["gymnasium/CartPole-v1"]},
    "evolver": {"method": "parametric"},
    "budget": {"episodes": 6},
    "views": {"validation": 2, "heldout": 4},
    "engine": {"workers": 1},
}
PROGRAM = "# EVOLVE-BLOCK-START\nWIDTH = 1.0\n# EVOLVE-BLOCK-END\n\n\ndef solve():\n    return WIDTH\n"
SCORER = "def verify(answer):\n    return {'size': 10 - abs(answer - 4)}\n"
FUNCTIONS = ("run", "resume", "evolve", "load")

needs_a_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")
needs_bubblewrap = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder of the module, in which `runs/first` is a suite once `suite` was asked for."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "scorer.py").write_text(SCORER)
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture(scope="module")
def suite(folder: Path) -> Suite:
    return heredity.run(SMALL, out="runs/first", progress=False)


# --- names


def test_every_public_name_is_there_and_documented() -> None:
    for name in heredity.__all__:
        assert inspect.getdoc(getattr(heredity, name)), name
    assert set(heredity.__all__) < set(dir(heredity))
    with pytest.raises(AttributeError, match="reesume"):
        heredity.reesume  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported_when_they_are_used() -> None:
    tree = ast.parse(Path(heredity.__file__).read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If) and isinstance(n.test, ast.Name))
    seen = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    imported = {name: f"{module}.{attribute}".rstrip(".") for name, (module, attribute) in heredity._NAMES.items()}
    assert seen == imported
    assert heredity.__all__ == sorted(seen)


def test_the_page_of_help_names_everything_but_each_error() -> None:
    words = set(re.findall(r"\w+", heredity.__doc__ or ""))
    assert {name for name in heredity.__all__ if not name.endswith("Error")} <= words


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_and_its_twin_take_the_same(name: str) -> None:
    one, twin = getattr(heredity, name), getattr(heredity, f"{name}_async")
    assert inspect.signature(one) == inspect.signature(twin)
    assert (one.__module__, one.__name__, twin.__name__) == ("heredity", name, f"{name}_async")
    assert inspect.iscoroutinefunction(twin)
    assert f"await heredity.{name}_async(" in (inspect.getdoc(twin) or "")


# --- examples


@needs_bubblewrap
@needs_a_sandbox
def test_the_examples_of_docstrings_run(folder: Path, tmp_path: Path) -> None:
    for name in ("program.py", "scorer.py"):
        (tmp_path / name).write_text((folder / name).read_text())
    space: dict[str, Any] = {"heredity": heredity}
    shown = [*(getattr(heredity, name) for name in FUNCTIONS)]
    shown += [Suite.compare, Suite.to_records, Suite.to_frame, Suite.save_report]
    with contextlib.chdir(tmp_path):
        for thing in shown:
            text = inspect.getdoc(thing) or ""
            test = doctest.DocTestParser().get_doctest(text, space, thing.__name__, None, None)
            assert test.examples, thing
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            space |= test.globs


@needs_bubblewrap
@needs_a_sandbox
def test_the_notebook_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = json.loads((ROOT / "examples" / "notebook.ipynb").read_text())["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]

    async def notebook() -> dict[str, Any]:
        space: dict[str, Any] = {}
        for code in codes:  # as a kernel does: inside a loop, with await at the top
            made = eval(compile(code, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space)
            if inspect.isawaitable(made):
                await made
        return space

    with contextlib.chdir(tmp_path):
        space = asyncio.run(notebook())
        assert space["suite"].status == "finished"
        assert space["best"].score >= space["best"].start_score == 7.0
        assert (tmp_path / "report.html").is_file()
    assert "divisor" in capsys.readouterr().out.lower()


# --- suites


@needs_a_sandbox
def test_a_suite_says_who_won_by_what(suite: Suite) -> None:
    assert (suite.name, suite.status, suite.folder) == ("first", "finished", Path("runs/first"))
    row = next(row for row in suite.leaderboard if row.evolver == "parametric")
    (run,) = suite.runs
    assert (run.taskset, run.evolver, run.seed, run.status) == ("gymnasium/CartPole-v1", "parametric", 0, "finished")
    assert row.mean == run.mean == suite.metrics.tasksets[0].cells[row.rank - 1 if row.rank else 0].mean
    assert run.best is not None
    assert run.best.text.encode() == run.best.files["policy.py"] == (run.best.folder / "policy.py").read_bytes()
    assert "parametric" in repr(suite)
    assert "finished" in repr(run)


@needs_a_sandbox
def test_a_notebook_shows_a_table_without_markup_of_others(suite: Suite) -> None:
    shown = suite._repr_html_()
    assert shown.count("<tr>") == 1 + len(suite.leaderboard)
    renamed = suite.metrics.leaderboard[0].model_copy(update={"evolver": "<script>"})
    metrics = suite.metrics.model_copy(update={"leaderboard": [renamed]})
    assert "<script>" not in heredity.Leaderboard(metrics)._repr_html_()


@needs_a_sandbox
def test_a_comparison_is_that_of_the_report_either_way(suite: Suite) -> None:
    (recorded,) = suite.metrics.comparisons.tasksets
    assert suite.compare(recorded.a, recorded.b) == recorded
    turned = suite.compare(recorded.b, recorded.a)
    assert turned.difference == -recorded.difference
    low, high = recorded.candidates.ci or (0, 0)
    assert turned.candidates.ci == (-high, -low)
    with pytest.raises(heredity.UnknownNameError, match="did you mean parametric"):
        suite.compare("parametrc", "random policy")
    with pytest.raises(heredity.ConfigError, match="two different entries"):
        suite.compare("parametric", "parametric")


def test_turning_a_comparison_turns_its_verdict() -> None:
    from heredity.results.run import Verdict
    from heredity.results.suite import Claim, Unit

    claim = Claim(unit=Unit.RUN, ci=(1.0, 3.0), p=0.01, p_holm=0.02, mde=1.0, verdict=Verdict.BETTER)
    assert (claim.turned.ci, claim.turned.verdict, claim.turned.p) == ((-3.0, -1.0), Verdict.WORSE, 0.01)
    assert claim.turned.turned == claim


@needs_a_sandbox
def test_results_become_records_frames_and_reports(suite: Suite, tmp_path: Path) -> None:
    (record,) = suite.to_records()
    assert record["mean"] == suite.runs[0].mean
    assert suite.to_frame().to_dicts() == [record]
    with pytest.raises(heredity.UnknownNameError, match="polars"):
        suite.to_frame("pollars")  # pyright: ignore[reportArgumentType]
    assert "parametric" in suite.save_report(tmp_path / "new" / "report.html").read_text()
    assert suite.save_report(tmp_path / "report.md").read_text().startswith("#")
    with pytest.raises(heredity.ConfigError, match=r"end it in \.html"):
        suite.save_report("report.pdf")


@needs_a_sandbox
def test_a_frame_needs_its_library(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(heredity.MissingExtraError, match="pip install pandas"):
        suite.to_frame("pandas")


@needs_a_sandbox
async def test_inside_a_running_loop_the_functions_wait_and_their_twins_are_awaited(suite: Suite) -> None:
    again = heredity.resume(suite.folder, progress=False)
    twin = await heredity.resume_async(suite.folder, progress=False)
    loaded = await heredity.load_async(suite.folder)
    assert again.metrics == twin.metrics == loaded.metrics == suite.metrics


@needs_a_sandbox
def test_overrides_are_a_mapping_or_words_and_a_configuration_is_taken_too(folder: Path) -> None:
    from heredity.experiments.config import resolve

    config = resolve(SMALL)
    two = heredity.run(config, {"budget.episodes": 4}, out="runs/mapping", progress=False)
    words = heredity.run(SMALL, ["budget.episodes=4"], out="runs/words", progress=False)
    assert [s.runs[0].results.budget.episodes for s in (two, words)] == [4, 4]


@needs_a_sandbox
def test_a_single_run_is_read_as_a_suite_of_one(suite: Suite) -> None:
    alone = heredity.load(suite.runs[0].folder)
    assert [run.id for run in alone.runs] == [suite.runs[0].id]
    assert (alone.status, alone.runs[0].mean) == ("finished", suite.runs[0].mean)
    assert alone.runs[0].best == suite.runs[0].best


@needs_a_sandbox
def test_a_suite_that_a_process_works_on_is_running(suite: Suite) -> None:
    lock = RunLock.acquire(suite.folder / "lock")
    assert heredity.load(suite.folder).status == "running"
    with pytest.raises(heredity.RunLockedError):
        heredity.resume(suite.folder, progress=False)
    lock.release()
    assert suite.status == "finished"


def test_a_suite_that_has_just_begun_has_no_runs(tmp_path: Path) -> None:
    from heredity.experiments.config import resolve
    from heredity.experiments.suite import open_suite

    open_suite(tmp_path / "new", resolve(SMALL))
    opened = heredity.load(tmp_path / "new")
    assert (opened.status, list(opened.runs), opened.metrics.runs) == ("unfinished", [], 1)
    assert "no run is judged" in repr(opened)


# --- what is wrong is said


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        with pytest.raises(heredity.UnknownNameError, match="did you mean demo"):
            heredity.run("demoo")
        with pytest.raises(heredity.ConfigError, match=r"budget\.episodes"):
            heredity.run({**SMALL, "budget": {"episodes": -1}})
        with pytest.raises(heredity.ConfigError, match="does not hold a suite"):
            heredity.resume("nowhere")
        with pytest.raises(heredity.ConfigError, match="neither a run nor a suite"):
            heredity.load("nowhere")
        assert list(tmp_path.iterdir()) == []


@needs_bubblewrap
def test_evolve_names_its_parameters(folder: Path) -> None:
    with pytest.raises(heredity.ConfigError, match=r"^cascade is 'a'"):
        heredity.evolve("program.py", "scorer.py", cascade="a", out="runs/wrong", progress=False)
    with pytest.raises(heredity.ConfigError, match=r"^seeds = 10000000"):
        heredity.evolve("program.py", "scorer.py", seeds=10**7, out="runs/wrong", progress=False)
    with pytest.raises(heredity.ConfigError, match="files"):
        heredity.evolve("circle-packing-26", files=["scorer.py"], progress=False)


@needs_bubblewrap
def test_an_evolution_gives_the_program_and_its_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    best = heredity.evolve("program.py", scorer="scorer.py", evaluations=6, out="runs/program")
    assert best.score is not None
    assert best.score >= best.start_score == 7.0
    assert best.files == {"program.py": best.text.encode()}
    assert best.text == (folder / "runs" / "program" / "best" / "program.py").read_text()
    assert best.suite.status == "finished"
    assert "start program: 7" in capsys.readouterr().err
    assert repr(best).startswith("<Evolution of program.py:")


INTERRUPTED = """
import asyncio
import heredity

def work():
    suite = {"run": {"name": "long", "tasksets": ["gymnasium/Pendulum-v1"]}, "evolver": {"method": "parametric"},
             "budget": {"episodes": 128}, "engine": {"workers": 1}}
    try:
        heredity.run(suite, out="long", progress=False)
    except KeyboardInterrupt as error:
        print(error, heredity.load("long").status)

async def notebook():
    work()

asyncio.run(notebook())
"""


@needs_a_sandbox
def test_ctrl_c_leaves_a_suite_that_can_be_resumed_inside_a_running_loop_too(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("long/runs/*/journal.jsonl")) and process.poll() is None:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output.split() == ["interrupted;", "nothing", "is", "lost:", "heredity", "resume", "long", "unfinished"]


@needs_a_sandbox
def test_a_thread_may_run_a_suite(folder: Path) -> None:
    suites: list[Suite] = []
    thread = threading.Thread(target=lambda: suites.append(heredity.run(SMALL, out="runs/thread", progress=False)))
    thread.start()
    thread.join()
    assert suites[0].status == "finished"


def test_weights_are_listed_and_left_on_the_disk(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.touch()
    os.truncate(weights, 1 << 42)
    best = Best(tmp_path, Files({"config.json": b"{}", weights.name: weights}))
    assert sorted(best.files) == ["config.json", "model.safetensors"]
    assert best.text == "# config.json\n{}"
