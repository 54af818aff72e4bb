"""The schema of results: what metrics.json of a run and of a suite hold, typed (see `docs/file-formats.md`).

The models are imported when they are asked for: environment workers read `heredity.results.status`, and start in a fraction of the
time that pydantic takes to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heredity.results.base import SCHEMA_VERSION, Result, read, with_part
    from heredity.results.run import RunResults
    from heredity.results.suite import SuiteResults

__all__ = ["SCHEMA_VERSION", "Result", "RunResults", "SuiteResults", "read", "with_part"]

_MODULES = {"RunResults": "run", "SuiteResults": "suite"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'base')}"), name)
