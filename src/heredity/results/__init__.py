"""The schema of results: what metrics.json of a run and of a suite hold, typed (see `docs/file-formats.md`)."""

from heredity.results.base import SCHEMA_VERSION, Result, read, with_part
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

__all__ = ["SCHEMA_VERSION", "Result", "RunResults", "SuiteResults", "read", "with_part"]
