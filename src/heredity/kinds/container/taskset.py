"""Tasksets of task folders: `tasks/shell`, one for each domain of a folder with a `splits.toml`, `tasks/shell+data`, `tasks/all`.

The folder is the one that the variable HEREDITY_TASKS names, or `tasks/` here or in a folder above, or else one of an
installed package (entry point group `heredity.containers`), such as ours. Its `splits.toml` assigns the tasks of each
domain, a folder of tasks, to train, validation and heldout (in distribution), and lists the domains that are out of
distribution. In `tasks/all` all tasks of those are in the split `ood` only. In a taskset of named domains the split
`ood` has the tasks of the other out-of-distribution domains.

`tasks/PATH` is a user's folder, such as `tasks/./my-tasks`: with a `splits.toml`, all its domains; without, the task
folders in it, of which half are for training, a fifth for validation, and the rest is held out. `?train=1` and
`&validation=1` set the numbers instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import read_text, toml_table
from heredity._core.plugins import Group, located
from heredity._core.refusals import quoted, reading
from heredity.kinds.container.format import Section, read_task
from heredity.sandbox.containers.task import ContainerTask
from heredity.tasks.contract import CLUSTER, SPLITS, Task, TasksetInfo
from heredity.tasks.registry import written_options

PREFIX = "tasks/"
"""Prefix of the names of these tasksets."""

VARIABLE = "HEREDITY_TASKS"
"""The environment variable that names the folder."""

ALL = "all"
"""The taskset of every domain."""

JOINT = "+"
"""Joins domains: `tasks/shell+data`."""

OOD = "ood"
"""The split of the domains that are out of distribution."""

TRAIN, VALIDATION = 0.5, 0.2
"""Shares of the splits of a user's folder; the rest is held out."""

_FILE = "splits.toml"
_SIZE = re.compile(r"[0-9]{1,6}")

FOLDERS = Group[ModuleType](
    "heredity.containers",
    "package of container tasks",
    f"a package that holds a {_FILE}",
    lambda package: any((Path(folder) / _FILE).is_file() for folder in getattr(package, "__path__", ())),
)
"""Packages that hold a folder of tasks; used if no other folder is found."""


@dataclass(frozen=True)
class Splits:
    """A `splits.toml`: the splits of each domain, each the names of task folders, and the out-of-distribution domains."""

    folder: Path
    version: str
    domains: Mapping[str, Mapping[str, tuple[str, ...]]]
    ood: tuple[str, ...]


def find_folder() -> Path | None:
    """Return the folder of tasks: from HEREDITY_TASKS, `tasks/` with a splits.toml here or above, or an installed one.

    Raises:
        ConfigError: if several packages offer one, or one cannot be loaded.
    """
    here = Path.cwd()
    if named := os.environ.get(VARIABLE):
        return Path(located(named, here))
    near = next((above / "tasks" for above in (here, *here.parents) if (above / "tasks" / _FILE).is_file()), None)
    names = FOLDERS.names()
    if near is not None or not names:
        return near
    if names[1:]:
        raise ConfigError(
            f"several packages hold container tasks: {', '.join(names)}; set {VARIABLE} to the folder of one"
        )
    return next(Path(folder) for folder in FOLDERS.load(names[0]).__path__ if (Path(folder) / _FILE).is_file())


def read_splits(folder: Path) -> Splits:
    """Read a folder's `splits.toml`.

    Raises:
        ConfigError: if it is missing or wrong: a duplicate task, a task without a folder, or a folder that is not
            named.
    """
    file = folder / _FILE
    with reading(file, "TOML", f"correct it, or set {VARIABLE} to another folder"):
        parsed = toml_table(read_text(file))
    unknown: list[str] = []
    top = Section(file, "", parsed, unknown)
    version, ood, domains = top.text("version") or "1", top.texts("ood"), top.section("domains")
    domain_tasks: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in top.table("domains"):
        section = domains.section(name)
        domain_tasks[name] = {split: section.texts(split) for split in SPLITS}
        section.close()
        _check_domain(folder, file, name, domain_tasks[name])
    top.close()
    if unknown or ALL in domain_tasks or not set(ood) <= domain_tasks.keys():
        wrong = unknown or [name for name in (ALL, *ood) if name not in domain_tasks] or [ALL]
        raise ConfigError(
            f"{file}: unknown domain or key {', '.join(map(quoted, wrong))}; correct or remove it, see docs/containers.md"
        )
    return Splits(folder, version, domain_tasks, ood)


def _check_domain(folder: Path, file: Path, name: str, splits: Mapping[str, tuple[str, ...]]) -> None:
    named = [task for tasks in splits.values() for task in tasks]
    there = {path.parent.name for path in (folder / name).glob("*/task.toml")}
    if twice := sorted({task for task in named if named.count(task) > 1}):
        raise ConfigError(f"{file}: domains.{name} names {', '.join(twice)} more than once; splits must be disjoint")
    if missing := sorted(set(named) - there):
        raise ConfigError(f"{file}: {folder / name} has no task {', '.join(missing)}; correct the name")
    if left := sorted(there - set(named)):
        raise ConfigError(f"{file}: {', '.join(left)} of {folder / name} is in no split; add it to one")


def divided(folder: Path, options: Mapping[str, str]) -> Splits:
    """Divide the task folders in a folder by the rank of a digest of their names: the same names are always divided alike.

    Args:
        folder: a folder of task folders, or a single task folder, which is held out.
        options: numbers of `train` and `validation` tasks; if only one is given, the other is 0; the default shares
            if none is.

    Raises:
        ConfigError: if there are none, or an option is unknown, not a count, or too large.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; give one that holds task folders of the Harbor format")
    if (folder / "task.toml").is_file():
        names, folder, options = [folder.name], folder.parent, options or {"train": "0"}
    else:
        names = [path.parent.name for path in folder.glob("*/task.toml")]
    if not names:
        raise ConfigError(
            f"{folder} holds no folder with a task.toml; give a folder of task folders (docs/containers.md)"
        )
    ranked, sizes = sorted(names, key=lambda name: digest_json([name])), _sizes(folder, len(names), options)
    first, second = sizes["train"], sizes["train"] + sizes["validation"]
    parts = dict(zip(SPLITS, (ranked[:first], ranked[first:second], ranked[second:]), strict=True))
    domain = {split: tuple(sorted(tasks)) for split, tasks in parts.items()}
    return Splits(folder.parent, "1", {folder.name: domain}, ())


def _sizes(folder: Path, total: int, options: Mapping[str, str]) -> dict[str, int]:
    # At least one task is held out.
    train, seen = (min(round(share * total), total - 1) for share in (TRAIN, TRAIN + VALIDATION))
    sizes = {"train": train, "validation": seen - train}
    if unknown := sorted(options.keys() - sizes.keys()):
        raise ConfigError(f"{folder}: unknown option {quoted(unknown[0])}; known: {', '.join(sizes)}")
    if not options:
        return sizes
    for split in sizes:
        asked = options.get(split, "0")
        if _SIZE.fullmatch(asked) is None:
            raise ConfigError(f"{folder}: {split} is {quoted(asked)}; give how many tasks, 0 or more")
        sizes[split] = int(asked)
    if sum(sizes.values()) > total:
        counts = " and ".join(f"{count} for {split}" for split, count in sizes.items())
        raise ConfigError(f"{folder} has {total} tasks; {counts} are asked for; ask for fewer")
    return sizes


class ContainerTaskset:
    """The tasks of one domain, of several, or of all.

    Args:
        splits: the folder's splits.
        domain: the domain, several joined by `+`, or `ALL`.
        name: of the taskset, if it differs from the domain's.
    """

    def __init__(self, splits: Splits, domain: str, name: str = "") -> None:
        self._splits, self._domain, self._name = splits, domain, name or PREFIX + domain

    @cached_property
    def info(self) -> TasksetInfo:
        """Description of this taskset; its version changes with any file of any task."""
        splits = (*SPLITS, OOD) if self._domain == ALL else SPLITS
        tasks = {split: self._tasks(split) for split in splits}
        digests = {split: [[name, task.digest] for name, task in members.items()] for split, members in tasks.items()}
        counts = {split: len(members) for split, members in tasks.items() if members}
        domains = sorted({name.partition("/")[0] for members in tasks.values() for name in members})
        return TasksetInfo(
            name=self._name,
            version=f"{self._splits.version}-{digest_json(digests)[:12]}",
            kind="container",
            spec={"folder": str(self._splits.folder), "domain": self._domain},
            public={"domains": domains, "tasks": counts},
            description=(
                "Tasks in a container: an instruction, a folder to work in, and a shell. What is left on the disk is "
                f"verified; the reward is between 0 and 1.\n\nDomains: {', '.join(domains)}."
            ),
            failure_return=0.0,
            group="containers",
            family=Path(self._name).name.partition("?")[0],
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split, in an order that `entropy` decides.

        Splits are `train`, `validation`, `heldout` (in distribution) and `ood`.

        Raises:
            UnknownNameError: if the split does not exist.
            ConfigError: if it has fewer tasks.
        """
        if split not in (*SPLITS, OOD):
            raise UnknownNameError("split", split, (*SPLITS, OOD))
        tasks = list(self._tasks(split).items())
        if count > len(tasks):
            raise ConfigError(f"{self._name} has {len(tasks)} tasks for {split}; {count} are asked for; ask for fewer")
        order = generator(entropy, "tasks", self._domain, split).permutation(len(tasks))
        return tuple(
            Task(name, split, index, _spec(name, task), _labels(name, task))
            for index, (name, task) in enumerate(tasks[position] for position in order[:count])
        )

    def _tasks(self, split: str) -> dict[str, ContainerTask]:
        splits, tasks = self._splits, dict[str, ContainerTask]()
        own = [d for d in splits.domains if d not in splits.ood] if self._domain == ALL else self._domain.split(JOINT)
        for domain, parts in splits.domains.items():
            if split == OOD:
                foreign = domain in splits.ood and domain not in own
                names = tuple(name for part in parts.values() for name in part) if foreign else ()
            else:
                names = parts.get(split, ()) if domain in own else ()
            tasks |= {f"{domain}/{name}": read_task(splits.folder / domain / name) for name in names}
        return tasks


class ContainerTasksets:
    """The tasksets named `"tasks/…"`."""

    def names(self) -> tuple[str, ...]:
        """Return all names; none without a folder of tasks."""
        folder = find_folder()
        return () if folder is None else tuple(PREFIX + name for name in (*read_splits(folder).domains, ALL))

    def taskset(self, name: str) -> ContainerTaskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if it does not exist; a folder of that name here is suggested.
            ConfigError: without a folder of tasks, or if its splits are wrong.
        """
        path, _, query = name.removeprefix(PREFIX).partition("?")
        if _is_path(path):
            return _own(name, Path(os.path.abspath(Path(path).expanduser())), written_options(name, query))
        folder = find_folder()
        if folder is None:
            raise ConfigError(
                f"{name}: there is no folder tasks/ with a {_FILE} here or above, and no package has one; go where one is, or set "
                f"{VARIABLE}"
            )
        splits, domain = read_splits(folder), name.removeprefix(PREFIX)
        parts = domain.split(JOINT)
        if domain != ALL and (not set(parts) <= splits.domains.keys() or len(set(parts)) != len(parts)):
            if Path(domain).is_dir():
                raise ConfigError(
                    f"unknown taskset {quoted(name)}; for the folder {domain} here, write {PREFIX}./{domain}"
                )
            raise UnknownNameError("taskset", name, self.names())
        return ContainerTaskset(splits, domain)

    def located(self, name: str, base: Path) -> str:
        """Return a name with its path made absolute relative to the folder `base`."""
        path, mark, query = name.removeprefix(PREFIX).partition("?")
        return f"{PREFIX}{os.path.normpath(located(path, base))}{mark}{query}" if _is_path(path) else name


SOURCE = ContainerTasksets()
"""What `heredity.tasks.registry` loads."""


def _is_path(rest: str) -> bool:
    return os.sep in rest or rest.startswith((".", "~"))


def _own(name: str, folder: Path, options: Mapping[str, str]) -> ContainerTaskset:
    if not (folder / _FILE).is_file():
        return ContainerTaskset(divided(folder, options), ALL, name)
    if options:
        raise ConfigError(f"{folder / _FILE} says which tasks are for what; leave out ?{'&'.join(options)}")
    return ContainerTaskset(read_splits(folder), ALL, name)


def _labels(name: str, task: ContainerTask) -> dict[str, str]:
    """Return a task's domain, and the cluster of its variants from `metadata.cluster`."""
    domain, variant = name.partition("/")[0], task.metadata.get(CLUSTER)
    return {"domain": domain, **({CLUSTER: f"{domain}: {variant}"} if variant else {})}


def _spec(name: str, task: ContainerTask) -> dict[str, Any]:
    domain, _, short = name.partition("/")
    return {"folder": str(task.folder), "domain": domain, "name": short, "digest": task.digest}
