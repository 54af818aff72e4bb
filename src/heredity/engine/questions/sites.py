"""Sites: small local webs that questions are about (entry point group `heredity.sites`).

    [project.entry-points."heredity.sites"]
    local-web = "my_package.site:SITE"

The questions of a site are the taskset `questions/NAME`. A question's metadata says what it needs: `files` are
documents given with it, as paths below the folder that `write` fills; `shows` is the evidence that the record of a
solver that found the answer must contain.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from heredity._core.plugins import Group
from heredity.engine.questions.pools import Pool


@runtime_checkable
class Site(Protocol):
    """A site, its documents and its questions."""

    def pool(self, options: Mapping[str, Any]) -> Pool:
        """Return its questions; raises `ConfigError` if an option is wrong."""
        ...

    def serving(self, port: int = 0) -> AbstractContextManager[str]:
        """Serve it on 127.0.0.1 within a block and return its address, such as `127.0.0.1:8000`; port 0 picks any."""
        ...

    def write(self, folder: Path) -> None:
        """Write its pages and documents into a folder."""
        ...


SITES = Group[Site](
    "heredity.sites", "site", "an object with pool, serving and write", lambda site: isinstance(site, Site)
)
