"""Shell completion of names: suites, kinds of projects, tasksets. Lists are read on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suites(incomplete: str) -> list[str]:
    """Return the installed suites that begin with `incomplete`; if there are none, the shell offers files."""
    from heredity.experiments.suites import suites as installed

    return beginning(installed(), incomplete)


def projects(incomplete: str) -> list[str]:
    """Return the kinds of projects that begin with `incomplete`."""
    from heredity.cli.init import kinds

    return beginning(kinds(), incomplete)


def tasksets(incomplete: str) -> list[str]:
    """Return the tasksets that begin with `incomplete`."""
    from heredity.tasks.registry import taskset_names

    return beginning(taskset_names(), incomplete)


def beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that begin with `incomplete`, sorted."""
    return sorted(name for name in names if name.startswith(incomplete))
