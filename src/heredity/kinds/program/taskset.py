"""Program tasks, folders with a program to evolve and the scorer that measures it, and tasksets of them.

The names are `program/circle-packing-26`, or `program/PATH` for a user's folder:

    circle-packing-26/
        task.toml        its title, the roles of files, and how to read a score
        statement.md     the problem, for people, agents and models
        program.py       the start program
        scorer.py        `verify(answer)`: judges the value that the program's `solve()` returned, in a separate process;
                         or `evaluate(program_path)`: runs the program itself, as evaluators of OpenEvolve do
                         further files are for the scorer, and folders if task.toml names them

If the function called with the program takes a seed, train, validation and held-out tasks are seeds, the last two
hidden. Else every task is the same measurement: nothing can be overfitted, and nothing is hidden.
"""

from __future__ import annotations

import ast
import codecs
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import check_trusted, python_tree, read_bytes, read_text, toml_table
from heredity._core.plugins import located
from heredity._core.refusals import reading
from heredity.tasks.contract import SPLITS, Task, Taskset, TasksetInfo

LIBRARY = "heredity.library"
FILE = "task.toml"
STATEMENT = "statement.md"
MOST_BYTES = 8 << 20
"""Maximum total size of a task's files, which enter the sandbox with every evaluation."""
MOST_FILES = 10_000
"""Maximum files in a folder: a folder with more is not a task."""

Form = Literal["verify", "evaluate"]
_PLAIN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"


class Declared(BaseModel):
    """The content of a `task.toml`.

    Attributes:
        title: for people.
        program: file of the program to evolve, also the start program.
        scorer: file that measures it.
        metric: the scorer's metric used as the score; by default `combined_score`, or else the mean of all metrics of
            the start program.
        minimise: minimize the metric; the score is then its negative.
        failure_score: upper bound of the metric for a program that fails or is rejected (by default such a program
            has no score and ranks below every other).
        best_known: the best published value of the metric, and its source.
        stages: thresholds of an evaluator with `evaluate_stage1` and so on: a stage runs if the one before reached
            its own.
        answer: file that describes what `solve()` returns as a vector, for methods that search numerically; see
            `heredity.methods.operators.polisher`. Methods may read it, and programs may carry it.
        folders: subfolders that the scorer reads from (files next to it are always present).
        python: interpreter, such as a virtual environment's, whose packages the program and the scorer may import; a
            relative path starts at the task's folder. By default the one that runs Heredity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=200)]
    program: Annotated[str, Field(pattern=_PLAIN)] = "program.py"
    scorer: Annotated[str, Field(pattern=_PLAIN)] = "scorer.py"
    metric: Annotated[str, Field(max_length=200)] = ""
    minimise: bool = False
    failure_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    best_known: Annotated[float, Field(allow_inf_nan=False)] | None = None
    best_known_source: str = ""
    stages: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = ()
    answer: Annotated[str, Field(pattern=rf"^$|{_PLAIN}")] = ""
    folders: tuple[Annotated[str, Field(pattern=_PLAIN)], ...] = ()
    python: str = ""

    def score_of(self, value: float) -> float:
        """Convert a value of the metric to a score, or a score to a value of the metric."""
        return -value if self.minimise else value

    @property
    def failure_return(self) -> float:
        """Upper bound of a failed program's score."""
        return -math.inf if self.failure_score is None else self.score_of(self.failure_score)


@dataclass(frozen=True)
class ProgramTask:
    """A program task.

    Attributes:
        folder: its folder.
        declared: content of its `task.toml`.
        statement: problem statement, in Markdown.
        files: all other files of the folder, by name.
        form: how the scorer measures: `"verify"` a program's result, or `"evaluate"` the program.
        seeded: true if the function called with the program takes a seed: then hidden seeds judge.
    """

    folder: Path
    declared: Declared
    statement: str
    files: Mapping[str, bytes] = field(repr=False)
    form: Form
    seeded: bool

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def program(self) -> str:
        """Text of the start program."""
        return self.files[self.declared.program].decode()

    @property
    def python(self) -> Path | None:
        """The interpreter that runs the program and the scorer; None for the one that runs Heredity."""
        return self.folder / Path(self.declared.python).expanduser() if self.declared.python else None

    @cached_property
    def digest(self) -> str:
        """Digest that changes when the same program may score differently."""
        beside = {name: data.hex() for name, data in self.files.items() if name != self.declared.program}
        return digest_json([self.declared.model_dump(mode="json"), beside])


def read_program_task(folder: Path) -> ProgramTask:
    """Read a task's folder without running any of it.

    Raises:
        ConfigError: if something is missing or wrong in it.
    """
    path = folder / FILE
    if not path.exists():
        raise ConfigError(
            f"{folder} has no {FILE}, so it is not a task; write one that names program and scorer, see docs/evolve.md"
        )
    with reading(path, "TOML", "correct it, see docs/evolve.md", model=Declared):
        declared = Declared.model_validate(toml_table(read_text(path)))
    statement, files = "", _files(folder, declared)
    for name in files.keys() & {declared.program, declared.scorer, STATEMENT}:
        files[name] = files[name].removeprefix(codecs.BOM_UTF8)
    roles = {
        "program": declared.program,
        "scorer": declared.scorer,
        **({"answer": declared.answer} if declared.answer else {}),
    }
    for what, name in roles.items():
        if name not in files:
            raise ConfigError(f"{path}: {what} is {name!r}, and {folder} has no such file; correct the name or add it")
        with reading(folder / name, "text", "give a source file"):
            files[name].decode()
    if STATEMENT in files:
        with reading(folder / STATEMENT, "text", "write it in Markdown"):
            statement = files.pop(STATEMENT).decode()
    form, seeded = _form(declared, folder / declared.scorer, files)
    if declared.answer and form != "verify":
        raise ConfigError(
            f"{path}: answer describes what solve() returns, and the scorer has no verify(answer); remove it"
        )
    task = ProgramTask(folder, declared, statement, files, form, seeded)
    if task.python is not None and not os.access(task.python, os.X_OK):
        raise ConfigError(
            f"{path}: python is {declared.python!r}, and no program is there; give the interpreter of an environment, "
            "such as /home/me/venv/bin/python"
        )
    if task.python is not None:
        check_trusted(task.python)
    return task


def files_below(folder: Path) -> list[Path]:
    """Return the files of a folder, recursively, without hidden files and bytecode.

    Raises:
        ConfigError: if a folder cannot be read, or there are more than `MOST_FILES`.
    """

    def refuse(error: OSError) -> NoReturn:
        raise ConfigError(f"{error.filename}: {error.strerror}; allow it to be read, or name another folder") from error

    files = list[Path]()
    for below, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        files += [Path(below, name) for name in names if not name.startswith(".")]
        if len(files) > MOST_FILES:
            raise ConfigError(f"{folder} holds more than {MOST_FILES} files; name a smaller folder")
    return sorted(files)


def _files(folder: Path, declared: Declared) -> dict[str, bytes]:
    paths = [path for path in sorted(folder.iterdir()) if not path.is_dir() and not path.name.startswith(".")]
    for name in declared.folders:
        if not (folder / name).is_dir():
            raise ConfigError(
                f"{folder / FILE}: folders has {name!r}, which is not a folder in {folder}; correct the name"
            )
        paths += files_below(folder / name)
    files, size = dict[str, bytes](), 0
    for path in paths:
        if path == folder / FILE:
            continue
        with reading(path, "a plain file", f"remove it, or make it smaller: a task has at most {MOST_BYTES >> 20} MiB"):
            content = read_bytes(path, MOST_BYTES - size)
        files[path.relative_to(folder).as_posix()] = content
        size += len(content)
    return files


def library_folder() -> Path:
    """Return the folder of the built-in tasks."""
    from importlib.resources import files

    return Path(str(files(LIBRARY) / "programs"))


def task_folders(library: Path) -> dict[str, Path]:
    """Return the tasks' folders below one, by name."""
    return {path.parent.name: path.parent for path in sorted(library.glob(f"*/{FILE}"))}


def functions_in(source: str, path: Path) -> dict[str, tuple[str, ...]]:
    """Return a module's functions with the names of their parameters.

    Raises:
        ConfigError: if it is not valid Python.
    """
    try:
        tree = python_tree(source)
    except ValueError as error:
        raise ConfigError(f"{path} is not valid Python: {error}; correct it") from error
    return {
        node.name: tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def _form(declared: Declared, scorer: Path, files: Mapping[str, bytes]) -> tuple[Form, bool]:
    """Return how a scorer measures, and True if with seeds."""
    has = functions_in(files[declared.scorer].decode(), scorer)
    python = declared.program.endswith(".py")
    own: dict[str, tuple[str, ...]] = {}
    if python and (
        "verify" in has or not declared.python
    ):  # another interpreter may accept syntax that this one does not
        own = functions_in(files[declared.program].decode(), scorer.parent / declared.program)
    if "verify" in has:
        if not python:
            raise ConfigError(
                f"{scorer} has verify(answer), which goes with a program in Python, not {declared.program}"
            )
        if "solve" not in own:
            raise ConfigError(
                f"{declared.program} has no function solve(), whose result verify(answer) is given; define it"
            )
        return "verify", "seed" in own["solve"] or "seed" in has["verify"]
    if "evaluate" in has or "evaluate_stage1" in has:
        return "evaluate", "seed" in has.get("evaluate", ())
    raise ConfigError(
        f"{scorer} has no function verify(answer) and none evaluate(program_path); write one of them, see docs/evolve.md"
    )


PREFIX = "program/"
KIND = "program"

VERSION = 3
"""Incremented whenever scores may change."""


@dataclass(frozen=True)
class ProgramTaskset:
    """The taskset of one program task; see `heredity.tasks.contract.Taskset`."""

    name: str
    task: ProgramTask

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset."""
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        task, declared = self.task, self.task.declared
        better = "less is better; the score is its negative" if declared.minimise else "higher is better"
        hidden = (
            "other seeds than those of train tasks"
            if task.seeded
            else "nothing: the scorer takes no seed, so train, validation and held-out tasks are the same measurement"
        )
        return TasksetInfo(
            name=self.name,
            version=f"task {task.digest[:12]}, scoring {VERSION}",
            kind=KIND,
            spec={"folder": str(task.folder.resolve()), "digest": task.digest},
            public={
                "taskset": self.name,
                "title": declared.title,
                "statement": task.statement,
                "program_file": declared.program,
                "entry": "solve" if task.form == "verify" else "",
                "answer": task.files[declared.answer].decode() if declared.answer else "",
                "metric": f"{declared.metric or 'combined_score, or else the mean of all that the start program has'}; {better}",
                "best_known": declared.best_known,
                "best_known_source": declared.best_known_source,
                "hidden": hidden,
                "seeded": task.seeded,
                "judged": "apart from the program"
                if task.form == "verify"
                else "by an evaluator that runs the program",
            },
            description=f"# {declared.title}\n\n{task.statement.strip()}\n",
            failure_return=declared.failure_return,
            group="programs",
            family="programs",
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw tasks; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if count < 0:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give 0 or more")
        spec = dict(self._info.spec)
        if not self.task.seeded:
            return tuple(Task(f"{split}/{i}", split, i, {**spec, "seed": None}) for i in range(count))
        # The last bits of the seeds keep splits disjoint.
        index, rng = SPLITS.index(split), generator(entropy, "program", self.name, split)
        drawn = dict.fromkeys(int(n) * len(SPLITS) + index for n in rng.integers(0, 2**29, 2 * count + 16))
        seeds = list(drawn)[:count]
        return tuple(Task(f"{split}/{i}", split, i, {**spec, "seed": seed}) for i, seed in enumerate(seeds))


class ProgramTasksets:
    """The tasksets named `"program/…"`."""

    def names(self) -> Iterable[str]:
        """Return the names of the built-in ones."""
        return tuple(PREFIX + name for name in task_folders(library_folder()))

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if it does not exist.
            ConfigError: if something is missing or wrong in its folder.
        """
        own, rest = task_folders(library_folder()), name.removeprefix(PREFIX)
        if rest in own:
            return ProgramTaskset(name, read_program_task(own[rest]))
        if not _is_path(rest):
            raise UnknownNameError("taskset", name, self.names())
        return ProgramTaskset(name, read_program_task(Path(rest).expanduser()))

    def located(self, name: str, base: Path) -> str:
        """Return a name with its path made absolute relative to the folder `base`."""
        rest = name.removeprefix(PREFIX)
        return PREFIX + located(rest, base) if _is_path(rest) else name


SOURCE = ProgramTasksets()
"""What `heredity.tasks.registry` loads."""


def _is_path(rest: str) -> bool:
    return os.sep in rest or rest.startswith((".", "~"))
