"""Names that a shell completes: suites, kinds of projects, problems, tasksets. Each is read when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suites(incomplete: str) -> list[str]:
    """Return the installed suites that begin with `incomplete`; where none does, the shell offers files."""
    from heredity.experiments.suites import suites as installed

    return _beginning(installed(), incomplete)


def projects(incomplete: str) -> list[str]:
    """Return the kinds of projects that begin with `incomplete`."""
    from heredity.cli.init import kinds

    return _beginning(kinds(), incomplete)


def problems(incomplete: str) -> list[str]:
    """Return the problems of the library that begin with `incomplete`."""
    from heredity.tasks.code.problem import library_folder, problem_folders

    return _beginning(problem_folders(library_folder()), incomplete)


def tasksets(incomplete: str) -> list[str]:
    """Return the tasksets that begin with `incomplete`."""
    from heredity.tasks.registry import taskset_names

    return _beginning(taskset_names(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
