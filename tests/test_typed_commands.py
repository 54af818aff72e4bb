"""Every command line of the README, the pages and the help is typed in a pseudo-terminal, from the package as a wheel has it."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.terminal import CTRL_C, Typed, typed

from heredity.cli.main import app
from heredity.sandbox.bubblewrap_root import available

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [ROOT / "README.md", *TUTORIALS, *(p for p in sorted((ROOT / "docs").rglob("*.md")) if p not in TUTORIALS)]
BLOCK = re.compile(r"^```(bash|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPINNER = re.compile("[\u2800-\u28ff] ")
COLUMNS = (60, 80, 120)
PROJECTS = ROOT / "src" / "heredity" / "library" / "projects"

pytestmark = pytest.mark.skipif(available() is not None, reason="commands of the documentation need bubblewrap")

UNTYPED = {
    r"^make ": "makes its own environment from the network, and then types these tests",
    r"^(vllm-env/bin/|science/bin/)?pip |^python3? -m venv|^vllm-env": "installs packages from the network",
    r"^(curl|python3 code/train\.py) ": "typed by an agent in its workspace",
    r"^heredity agents install": "installs a program from the network",
    r"^heredity bench ": "a benchmark, with tests of its own",
    r"^heredity (broker|resources serve --mcp stdio)": "speaks to programs until its input ends",
}
"""What is not typed here, and why."""

REFUSED = {
    r"\b(openai|anthropic)/": "needs an account",
    r"--agent (codex|claude-code|\./my-agent|\"python3|\"bash)|--author claude-code": "needs an agent",
    r"runs/(NAME|SUITE|q|mine|demo|pilot)\b(?! run\.seeds=4)|-20260101-120000|team-runs/": "a run of the reader's",
    r"plan demo --pilot|compare runs/first|runs/second": "a run of the reader's",
    r"\./(my-worlds?|admitted)\b|AutoEnv/|library/NAME": "a world or a pool of the reader's",
    r"mypackage|code judge (mine|answer)|--policy my-program|actions\.jsonl|evaluator\.py|--themes": "files of the reader's",
    r"resources (list|show|diff|log|restore|contract|run|export|import) (?!.*\$run)": "resources of the reader's",
    r"resources (update|copy|unregister|retrieve|call) ": "resources of the reader's",
    r"team (serve|run|submission)(?!.*scripted/offline)": "a team.toml and a model of the reader's",
    r"^heredity (submit|finish)": "is typed in the workspace of an agent",
    r"training\.engine=vllm|posttrain-gpu": "needs a GPU",
}
"""What cannot end well here, and why: it is typed up to its refusal, which is short, has no traceback, and exit code 2."""

CHECKS = {r"^heredity agents check": 1, r"^heredity (submit|finish)": 5}
"""What ends with an exit code of its own, since what it looks for is not there."""

ENDLESS = {
    r"^heredity (view|sites serve|resources serve|team serve)": "http",
    r"^heredity worlds play": ">",
}
"""What serves or asks until Ctrl-C, and what it has written by then."""

LONG = re.compile(
    r"^heredity run (core16|posttrain-cpu|worlds-across|questions-offline|harness-offline|team-offline|code|programs|"
    r"within-task-\w+|generation-offline)|--until|--seeds 8|compose --seeds|worlds generate|worlds bench|worlds curate|"
    r"worlds examples|doctor --attack|evaluations 200|heredity (demo|run demo)|--base-url|corridor\.toml"
)
"""What takes more than a minute: it is stopped by Ctrl-C."""


@dataclass(frozen=True)
class Line:
    """A command line, and where it is printed."""

    where: str
    text: str


def lines_of(page: Path, *languages: str) -> list[Line]:
    """Return the command lines of a page; blocks of `sh` need what not everybody has, an account mostly."""
    text, lines = page.read_text(encoding="utf-8"), list[Line]()
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start()) + 2
        for offset, line in enumerate(block[2].splitlines()):
            if languages and block[1] not in languages:
                continue
            command = re.sub(r"\s+#\s.*$", "", line).strip()
            if command and not command.startswith("#"):
                lines.append(Line(f"{page.relative_to(ROOT)}:{first + offset}", command))
    return lines


def examples(group: Any = None, path: str = "heredity") -> Iterator[Line]:
    group = group or typer.main.get_command(app)
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from examples(command, f"{path} {name}")
        else:
            text = inspect.cleandoc(command.callback.__doc__ or "").rpartition("\n\nExample: ")[2]
            yield Line(f"{path} {name} --help", " ".join(text.split()))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds what a wheel installs: `test_wheel.py` shows that it is the same."""
    made = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "src" / "heredity", made / "heredity", copy_function=_linked)
    about = distribution("heredity")
    info = made / f"heredity-{about.version}.dist-info"
    info.mkdir()
    for name in ("METADATA", "entry_points.txt"):
        (info / name).write_text(about.read_text(name) or "")
    (made / "bin").mkdir()
    script = made / "bin" / "heredity"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom heredity.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    script.chmod(0o755)
    return made


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def variables(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a person: no keys, no settings, a home of their own, no screen."""
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE") if name in os.environ}
    path = os.pathsep.join([str(wheel / "bin"), str(Path(sys.executable).parent), "/usr/local/bin:/usr/bin:/bin"])
    return {**kept, "PATH": path, "HOME": str(tmp_path_factory.mktemp("home")), "PYTHONPATH": str(wheel)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that the pages take for granted."""
    here = tmp_path / "a folder of mine"
    here.mkdir()
    shutil.copy(ROOT / "examples" / "corridor.py", here)
    shutil.copytree(PROJECTS / "harness" / "my-tasks", here / "my-tasks")
    shutil.copytree(
        ROOT / "src" / "heredity" / "library" / "tasks" / "containers" / "shell" / "count-errors", here / "t"
    )
    shutil.copy(PROJECTS / "program" / "program.py", here)
    shutil.copy(PROJECTS / "program" / "scorer.py", here)
    (here / "mine.toml").write_text(MINE)
    rows = (f"q{n},d{n // 4},{n % 2},{n % 3 % 2}" for n in range(48))
    (here / "results.csv").write_text("\n".join(["item,document,one,two", *rows]) + "\n")
    return here


MINE = """
[run]
tasksets = ["gymnasium/CartPole-v1"]
seeds = 1
[evolver]
method = "random"
[budget]
episodes = 4
[views]
validation = 2
heldout = 2
"""


def refused(command: str) -> bool:
    return any(re.search(pattern, command) for pattern in REFUSED)


def type_line(command: str, folder: Path, columns: int, variables: Mapping[str, str]) -> Typed:
    """Type a line; what never ends, or takes minutes, is stopped by Ctrl-C."""
    words = ["bash", "-c", f"exec {command}" if command.startswith("heredity ") and " | " not in command else command]
    given: dict[str, Any] = {"columns": columns, "environment": variables}
    for pattern, once in ENDLESS.items():
        if re.search(pattern, command) and not refused(command):
            return typed(words, folder, press=CTRL_C, once=once, after_s=0.2, **given)
    if LONG.search(command) and not refused(command):
        return typed(words, folder, press=CTRL_C, after_s=10.0, **given)
    return typed(words, folder, **given)


def faults_of(command: str, ended: Typed, columns: int) -> list[str]:
    """Return what is wrong with how a command ended."""
    faults: list[str] = []
    if "Traceback (most recent call last)" in ended.text:
        faults.append("a traceback")
    stopped = LONG.search(command) or any(re.search(pattern, command) for pattern in ENDLESS)
    expected = next((code for pattern, code in CHECKS.items() if re.search(pattern, command)), None)
    if refused(command):
        if ended.code != (expected or 2):
            faults.append(f"exit code {ended.code} where it is refused")
        said = [line for line in ended.text.splitlines() if line.strip() and SPINNER.match(line) is None]
        if len(said) > 12:
            faults.append(f"a refusal of {len(said)} lines")
    elif ended.code != (expected or 0) and not (stopped and ended.code == 130):
        faults.append(f"exit code {ended.code}")
    wide = [line for line in ended.text.split("\n") if len(line.split("\r")[-1]) > columns and tabular(line)]
    if wide:
        faults.append(f"a line of {len(wide[0])} characters in {columns} columns: {wide[0][:200]!r}")
    return faults


def tabular(line: str) -> bool:
    """Return whether a terminal that breaks a line spoils it: one with cells, that is, and not of JSON, a log or a sentence."""
    return re.search(r"\S {2,}\S|[│┃┏]", line.rstrip()) is not None and not re.match(
        r"heredity: |[ {\"]|\d+\.\d+\.\d+ ", line
    )


def report(line: Line, ended: Typed, faults: list[str]) -> str:
    return f"{line.where}: {line.text}\n  {'; '.join(faults)}\n" + "\n".join(
        f"  | {said}" for said in ended.text.splitlines()[-12:]
    )


def type_all(lines: list[Line], folder: Path, variables: Mapping[str, str], first: int = 0) -> list[str]:
    """Type lines in their order, each in the folder that `cd` lines lead to; return what went wrong."""
    wrong: list[str] = []
    for number, line in enumerate(lines, first):
        if any(re.search(pattern, line.text) for pattern in UNTYPED):
            continue
        if line.text.startswith("cd "):
            folder = folder / line.text.removeprefix("cd ")
            continue
        if "examples/" in line.text or "=examples" in line.text:
            shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
            (folder / "corridor.py").unlink(missing_ok=True)
        columns = COLUMNS[number % len(COLUMNS)]
        ended = type_line(line.text, folder, columns, variables)
        if faults := faults_of(line.text, ended, columns):
            wrong.append(report(line, ended, faults))
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if lines_of(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_work_as_printed(page: Path, folder: Path, variables: dict[str, str]) -> None:
    if page.stem == "post-training":
        pytest.importorskip("torch", reason="trains models")
    wrong = type_all(lines_of(page), folder, variables, first=PAGES.index(page))
    assert not wrong, "\n".join(wrong)


QUICK = [
    line for page in PAGES for line in lines_of(page)
    if re.search(r"^heredity (init|suites|schema|agents list|env list|code (list|show)|worlds (list|show)|tasks show|evaluate|"
                 r"annotate|trace|plan|resources (log|diff))\b", line.text)
    and not re.search(r"runs/first|lantern|my-tasks|suite\.toml", line.text)
]  # fmt: skip
"""Lines of the pages that take a second and need nothing that another one has made."""
EXAMPLES = [line for line in examples() if not any(re.search(pattern, line.text) for pattern in UNTYPED)]
QUICK_EXAMPLES = [line for line in EXAMPLES if not LONG.search(line.text)]


@pytest.mark.fast(14)
@pytest.mark.parametrize("number", range(len(QUICK)), ids=lambda number: QUICK[number].where)
def test_a_line_of_a_page_works_by_itself(number: int, folder: Path, variables: dict[str, str]) -> None:
    wrong = type_all([QUICK[number]], folder, variables, first=number)
    assert not wrong, wrong[0]


def example(line: Line, number: int, folder: Path, variables: dict[str, str]) -> None:
    wrong = type_all([line], folder, variables, first=number)
    assert not wrong, wrong[0]


@pytest.mark.fast(14)
@pytest.mark.parametrize("number", range(len(QUICK_EXAMPLES)), ids=lambda number: QUICK_EXAMPLES[number].where)
def test_an_example_of_the_help_works_as_printed(number: int, folder: Path, variables: dict[str, str]) -> None:
    example(QUICK_EXAMPLES[number], number, folder, variables)


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in EXAMPLES if LONG.search(line.text)], ids=lambda line: line.where)
def test_a_long_example_of_the_help_can_be_stopped(line: Line, folder: Path, variables: dict[str, str]) -> None:
    example(line, 0, folder, variables)


def test_what_is_typed_is_the_package_of_the_wheel(wheel: Path, folder: Path, variables: dict[str, str]) -> None:
    words = ["python", "-c", "import heredity; print(heredity.__file__)"]
    assert typed(words, folder, environment=variables).text.strip() == str(wheel / "heredity" / "__init__.py")


def test_every_command_of_the_documentation_is_typed_or_listed_with_a_reason() -> None:
    lines = [line for page in PAGES for line in lines_of(page)]
    assert len(lines) > 150
    assert len(EXAMPLES) > 50
    for patterns in (UNTYPED, REFUSED):
        for pattern in patterns:
            assert any(re.search(pattern, line.text) for line in [*lines, *examples()]), pattern
