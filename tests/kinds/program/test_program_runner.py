"""Programs measured by scorers: scores, failures and whose they are, and programs that try to score themselves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from heredity.engine.kind import Opening, Workers
from heredity.engine.rollout import RolloutError
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.program.kind import KIND, _reply, score_of
from heredity.resources import Candidate, SourceTree
from heredity.results.status import FailureSource
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits
from heredity.sandbox.native import Ended
from heredity.tasks.registry import taskset

pytestmark = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")

VERIFY = """
SECRET = "nine herons over a slate roof"
def verify(answer):
    if not isinstance(answer, (int, float)):
        raise ValueError(f"give a number, not {answer!r:.40}")
    return {"size": answer, "twice": 2 * answer}, "as it is"
"""


def task(
    folder: Path, scorer: str, program: str = "def solve():\n    return 1\n", toml: str = 'metric = "size"'
) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "task.toml").write_text(f'title = "One"\n{toml}\n')
    (folder / "program.py").write_text(program)
    (folder / "scorer.py").write_text(scorer)
    return f"program/{folder}"


def measured(name: str, programs: Sequence[str | dict[str, str]]) -> list[Trajectory]:
    one = taskset(name)
    (drawn,) = one.draw("train", 1, 3)
    trees = [SourceTree({"program.py": p} if isinstance(p, str) else p) for p in programs]

    async def run() -> list[Trajectory]:
        runner = KIND.open(Opening(workers=Workers(count=2)))
        try:
            jobs = [Job(one.info, Candidate.program(tree), drawn) for tree in trees]
            found = {i: t async for i, t in runner.run(jobs, Limits(episode_s=20.0))}
            return [found[i] for i in range(len(jobs))]
        finally:
            await runner.close()

    return asyncio.run(run())


def test_scores_metrics_and_texts(tmp_path: Path) -> None:
    (one,) = measured(task(tmp_path / "a", VERIFY), ["print('hello')\ndef solve():\n    return 3\n"])
    assert (one.status, one.total_reward) == ("ok", 3.0)
    assert one.columns["info/metrics"][0] == {"size": 3.0, "twice": 6.0}
    assert one.columns["info/texts"][0] == {"feedback": "as it is"}
    assert one.columns["info/answer"] == ["3"]
    assert "hello" in one.stderr
    assert one.cost["cpu_s"] > 0


CHEATS = {
    "prints a score": 'import json, os\nprint(json.dumps({"metrics": {"size": 99}}))\ndef solve():\n    return 1\n',
    "answers as the scorer would": 'def solve():\n    return {"metrics": {"size": 99}}\n',
    "ends with an answer of its own": (
        "import json, os\ndef solve():\n"
        '    [os.write(fd, json.dumps({"metrics": {"size": 99}}).encode()) for fd in range(3, 9) if _open(fd)]\n    os._exit(0)\n'
        "def _open(fd):\n    try:\n        os.fstat(fd)\n    except OSError:\n        return False\n    return True\n"
    ),
    "reads the scorer": "def solve():\n    return open('/work/scorer.py').read()\n",
    "writes another scorer": (
        "import pathlib\ndef solve():\n    pathlib.Path('/work/scorer.py').write_text('def verify(a): return 99')\n    return 1\n"
    ),
    "looks for it anywhere": (
        "import pathlib\ndef solve():\n"
        "    found = [p for top in ('/work', '/tmp', '/source', '/proc/1/root/work') for p in pathlib.Path(top).rglob('*')]\n"
        "    texts = [p.read_text(errors='replace') for p in found if p.is_file() and p.stat().st_size < 10**5]\n"
        "    return 99 if any('nine herons over a ' + 'slate roof' in t for t in texts) else 1\n"
    ),
    "is a number of its own kind": "class N(float):\n    def __gt__(self, o): return True\ndef solve():\n    return N('nan')\n",
    "brings modules that the scorer's process would load": "def solve():\n    return 1\n",
    "writes an answer of its own before": (
        "import os\ndef solve():\n    [os.write(fd, b'answer\\n99\\n') for fd in range(3, 9) if _open(fd)]\n    return 1\n"
        "def _open(fd):\n    try:\n        os.fstat(fd)\n    except OSError:\n        return False\n    return True\n"
    ),
    "stays behind": (
        "import os, time\ndef solve():\n    if os.fork() == 0:\n        time.sleep(30)\n        os._exit(0)\n    return 1\n"
    ),
}


def test_a_program_cannot_score_itself_where_its_answer_is_verified(tmp_path: Path) -> None:
    beside = {
        "json.py": "def load(f): return {}\n",
        "random.py": "raise SystemExit\n",
        "scorer.py": "def verify(a): return 99\n",
    }
    programs: list[str | dict[str, str]] = [
        {"program.py": text, **(beside if "brings" in name else {})} for name, text in CHEATS.items()
    ]
    scores = {
        name: one.total_reward
        for name, one in zip(CHEATS, measured(task(tmp_path / "a", VERIFY), programs), strict=True)
    }
    assert {name: score for name, score in scores.items() if score > 1} == {}


def test_failures_are_the_programs_or_the_scorers(tmp_path: Path) -> None:
    name = task(tmp_path / "a", VERIFY)
    programs = [
        "def solve():\n    return 1 / 0\n",
        "def solve():\n    return 'words'\n",
        "def solve(:\n",
        "import os\nos.kill(os.getpid(), 9)\n",
        "def solve():\n    return object()\n",
    ]
    found = measured(name, programs)
    assert [t.failure_source for t in found] == [FailureSource.CANDIDATE] * 5
    assert [t.status for t in found] == ["act_error", "invalid_action", "act_error", "oom", "act_error"]
    failures = [t.failure for t in found]
    assert failures[0] is not None
    assert "ZeroDivisionError" in failures[0].message
    assert "program.py" in failures[0].traceback
    assert failures[1] is not None
    assert "give a number" in failures[1].message
    (broken,) = measured(task(tmp_path / "b", "def verify(answer):\n    return answer['missing']\n"), programs[1:2])
    assert broken.failure_source is FailureSource.ENVIRONMENT


EVALUATOR = """
import importlib.util
from openevolve.evaluation_result import EvaluationResult
def program(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def evaluate(program_path):
    value = program(program_path).run()
    return EvaluationResult(metrics={"combined_score": value, "speed": 2.0}, artifacts={"said": "of " + str(value)})
def evaluate_stage1(program_path):
    return {"combined_score": program(program_path).run() / 10}
def evaluate_stage2(program_path):
    return {"combined_score": program(program_path).run()}
"""


def test_evaluators_of_openevolve_are_scorers_as_they_are(tmp_path: Path) -> None:
    begin = "def run():\n    return 1.0\n"
    plain = task(tmp_path / "a", EVALUATOR, begin, toml="")
    one, broken = measured(plain, ["def run():\n    return 4.0\n", "def run():\n    return None\n"])
    assert one.total_reward == 4.0
    assert one.columns["info/texts"][0] == {"said": "of 4.0"}
    assert broken.status == "non_finite_return"
    staged = task(tmp_path / "b", EVALUATOR, begin, toml="stages = [0.5]")
    low, high = measured(staged, ["def run():\n    return 4.0\n", "def run():\n    return 6.0\n"])
    assert (low.total_reward, high.total_reward) == (0.4, 6.0)


def test_less_is_better_turns_the_sign(tmp_path: Path) -> None:
    (one,) = measured(
        task(tmp_path / "a", VERIFY, toml='metric = "twice"\nminimise = true'), ["def solve():\n    return 3\n"]
    )
    assert one.total_reward == -6.0


def test_the_score_is_the_mean_of_the_metrics_that_count() -> None:
    assert score_of({"a": 1.0, "b": 2.0, "c": None}, ("a", "b")) == 1.5
    assert score_of({"a": 1.0, "b": 2.0}, ("b",)) == 2.0
    assert score_of({"a": 1.0}, ("b",)) is None
    assert score_of({"combined_score": None, "a": 1.0}, ("combined_score",)) is None
    assert score_of({"a": 1.0}, ("a", "b")) is None
    assert score_of({}, ()) is None


OF_ITS_TEXT = """
import ast
def evaluate(program_path):
    return ast.literal_eval(open(program_path).read())
"""


def test_which_metrics_count_is_settled_by_the_start_program(tmp_path: Path) -> None:
    combined = task(tmp_path / "a", OF_ITS_TEXT, "{'combined_score': 0.25, 'valid': 1.0}\n", toml="")
    other, dear, true = measured(
        combined,
        [
            "{'combined_score': 'very good', 'valid': 1.0, 'size': 900.0}\n",
            "{'valid': 1.0, 'size': 900.0}\n",
            "{'combined_score': True}\n",
        ],
    )
    assert [t.status for t in (other, dear, true)] == ["non_finite_return"] * 3
    assert other.failure is not None
    assert "combined_score" in other.failure.message
    assert "very good" in other.failure.message
    plain = task(tmp_path / "b", OF_ITS_TEXT, "{'size': 1.0, 'valid': True, 'name': '7'}\n", toml="")
    same, more, less = measured(
        plain,
        [
            "{'size': 1.0, 'valid': True, 'name': '7'} # same\n",
            "{'size': 3.0, 'bonus': 900.0, 'combined_score': 900.0}\n",
            "{'bonus': 900.0}\n",
        ],
    )
    assert (same.total_reward, more.total_reward, less.status) == (1.0, 3.0, "non_finite_return")
    assert same.columns["info/texts"][0] == {"valid": "True", "name": "7"}


@pytest.mark.parametrize("given", ["True", "'0.2'", "{'score': '0.2'}", "{'valid': True}", "b'1'", "{}"])
def test_truth_values_and_texts_are_no_scores(tmp_path: Path, given: str) -> None:
    name = task(tmp_path / "a", f"def evaluate(path):\n    return {given}\n", toml="")
    (one,) = measured(name, ["def solve():\n    return 1\n"])
    assert one.status == "non_finite_return"
    assert one.failure is not None
    assert "no finite number" in one.failure.message


def test_stages_are_passed_by_the_metric_that_counts_in_its_direction(tmp_path: Path) -> None:
    scorer = (
        "def evaluate_stage1(path):\n    return {'loss': float(open(path).read()), 'speed': 50.0}\n"
        "def evaluate_stage2(path):\n    return {'loss': float(open(path).read()) + 100.0}\n"
    )
    name = task(tmp_path / "a", scorer, "9.0\n", toml='metric = "loss"\nminimise = true\nstages = [5.0]')
    low, high = measured(name, ["4.0\n", "6.0\n"])
    assert (low.total_reward, high.total_reward) == (-104.0, -6.0)


RAISING = {
    "half of a surrogate pair": ("Exception('half \\ud800 of one')", "half \\ud800 of one"),
    "three million characters": ("Exception('e' * 3_000_000 + 'the end')", "the end"),
    "a text that raises": ("type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()", "cannot be shown"),
}


@pytest.mark.parametrize("kind", RAISING)
@pytest.mark.parametrize("form", ["evaluate", "verify"])
def test_the_reason_is_told_whatever_an_error_says(tmp_path: Path, kind: str, form: str) -> None:
    raised, said = RAISING[kind]
    name = task(tmp_path / "a", f"def {form}(given):\n    raise {raised}\n", toml="")
    (one,) = measured(name, ["def solve():\n    return 1\n"])
    assert one.failure is not None
    assert said in one.failure.message
    assert len(one.failure.message) < 20_000
    assert len(one.failure.traceback) < 20_000
    one.failure.message.encode()


def test_names_and_texts_of_metrics_may_hold_anything(tmp_path: Path) -> None:
    scorer = "def evaluate(path):\n    return {'combined_score': 1.0, 'half \\ud800': 2.0, 'n' * 9_000: 3.0, 'said': '\\udfff'}\n"
    (one,) = measured(task(tmp_path / "a", scorer, toml=""), ["def solve():\n    return 1\n"])
    assert (one.status, one.total_reward) == ("ok", 1.0)
    assert one.columns["info/metrics"][0]["half \\ud800"] == 2.0
    assert one.columns["info/texts"][0]["said"] == "\\udfff"
    assert max(map(len, one.columns["info/metrics"][0])) == 200


def test_an_answer_is_handed_on_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str | bytes) -> object:
        read.append(len(text))
        return json.loads(text)

    monkeypatch.setattr("heredity.kinds.program.kind.json_value", counted)
    name = task(tmp_path / "a", "def verify(answer):\n    return {'size': len(answer)}\n")
    (one,) = measured(name, ["def solve():\n    return list(range(300_000))\n"])
    assert one.total_reward == 300_000.0
    assert sum(read) < 1_000


def test_what_is_too_long_to_be_read_is_refused(tmp_path: Path) -> None:
    scorer = "def evaluate(path):\n    return {str(i): float(i) for i in range(300_000)}\n"
    (one,) = measured(task(tmp_path / "a", scorer, toml='metric = "1"'), ["def solve():\n    return 1\n"])
    assert one.failure is not None
    assert "bytes of metrics and texts" in one.failure.message


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    name = task(tmp_path / "a", VERIFY)
    measured(name, ["def solve():\n    return 3\n"])
    assert list(temporary.iterdir()) == []


NOT_JSON = {
    "float('nan')": "solve() returned nan",
    "[1.0, float('-inf')]": "solve() returned a list that holds -inf",
    "object()": "solve() returned a value of type object",
    "1j": "solve() returned a value of type complex",
    "b'text'": "solve() returned a value of type bytes",
    "(i for i in (1, 2))": "solve() returned a value of type generator",
    "10 ** 5000": "solve() returned an integer of more than",
    "'half \\ud800'": "solve() returned a text with half of a surrogate pair",
    "{1: 2, '1': 3}": "solve() returned a dict that holds two keys",
    "itself()": "solve() returned a list that holds itself",
    "nested()": "solve() returned a list that holds lists nested more than 100 deep",
    "'x' * 17_000_000": "solve() returned 17,000,002 bytes of JSON",
    "array()": "solve() returned a value of type Array that holds nan",
    "sys.exit(3)": "the program called sys.exit(3) in program.py, line 22",
    "os._exit(3)": "the program ended with exit code 3",
    "os.abort()": "the program was ended by SIGABRT",
}
ODD = """
import os
import sys
class Array:
    def tolist(self):
        return [float('nan')]
def array():
    return Array()
def itself():
    value = []
    value.append(value)
    return value
def nested():
    value = []
    for _ in range(100_000):
        value = [value]
    return value



def solve():
    return """


def test_an_answer_that_json_cannot_hold_is_named_in_one_line(tmp_path: Path) -> None:
    name = task(tmp_path / "a", VERIFY)
    for (answer, said), one in zip(NOT_JSON.items(), measured(name, [ODD + a for a in NOT_JSON]), strict=True):
        assert one.failure is not None, answer
        assert one.failure.message.startswith(said), answer
        assert "\n" not in one.failure.message
        assert one.failure.traceback == "" or "_exit" in answer or "abort" in answer
        assert one.failure_source is FailureSource.CANDIDATE


ODD_SCORERS = {
    "def verify(answer):\n    import sys\n    sys.exit(3)\n": "the scorer called sys.exit(3) in scorer.py, line 3",
    "def verify():\n    return 1.0\n": "verify() takes 0 arguments; it is called with the answer",
    "def verify(a, b):\n    return 1.0\n": "verify() takes 2 arguments (a, b); it is called with the answer",
    "def verify(*, a):\n    return 1.0\n": "verify() takes 1 argument (a by name); it is called with the answer",
    "def verify(answer):\n    pass\nverify = 3\n": "scorer.py has no function verify()",
    "int('x')\ndef verify(answer):\n    return 1.0\n": "the scorer failed: ValueError: invalid literal",
    "def verify(answer):\n    return verify(answer)\n": "the scorer failed: RecursionError",
    "def verify(answer):\n    assert answer > 5\n": "the scorer failed: AssertionError",
    "import missing\ndef verify(answer):\n    return 1.0\n": "the scorer failed: ModuleNotFoundError",
}


@pytest.mark.parametrize("scorer", ODD_SCORERS)
def test_a_scorer_that_fails_is_told_with_its_own_frames_alone(tmp_path: Path, scorer: str) -> None:
    (one,) = measured(task(tmp_path / "a", scorer), ["def solve():\n    return 3\n"])
    assert one.failure is not None
    assert one.failure.message.startswith(ODD_SCORERS[scorer])
    assert one.failure_source is FailureSource.ENVIRONMENT
    trace = one.failure.traceback
    assert ".guest" not in trace
    assert "importlib" not in trace
    assert ('File "scorer.py", line ' in trace) is ("failed" in ODD_SCORERS[scorer])


def test_what_a_scorer_prints_or_forks_is_no_part_of_its_score(tmp_path: Path) -> None:
    scorer = "import os\ndef verify(answer):\n    print('x' * 10_000_000)\n    os.fork()\n    return 1.0\n"
    (one,) = measured(task(tmp_path / "a", scorer, toml=""), ["def solve():\n    return 3\n"])
    assert one.total_reward == 1.0


def test_a_scorer_that_sleeps_is_ended_by_the_clock() -> None:
    bound = Limits(episode_s=1.0)
    slept = Ended(-9, b"", "", 0.1, 24.0, 0, "wall")
    with pytest.raises(RolloutError, match="no answer within 24 seconds of wall time"):
        _reply(slept, "the scorer", FailureSource.ENVIRONMENT, bound)
