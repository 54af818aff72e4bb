"""Sites: small webs of our own that questions are about, served on this machine (entry point group `heredity.sites`).

    [project.entry-points."heredity.sites"]
    local-web = "my_package.site:SITE"

The questions of a site are the taskset `questions/NAME`. What a question needs is in its metadata: `files` are documents that
are given with it, as paths below the folder that `write` fills; `shows` is what the record of whoever found the answer has to
show.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from heredity.plugins import Group
from heredity.tasks.questions.pools import Pool


@runtime_checkable
class Site(Protocol):
    """A site, its documents and its questions."""

    def pool(self, options: Mapping[str, Any]) -> Pool:
        """Return its questions; raises `ConfigError` if an option is wrong."""
        ...

    def serving(self, port: int = 0) -> AbstractContextManager[str]:
        """Serve it on 127.0.0.1 while a block runs, and give its address, such as `127.0.0.1:8000`; port 0 is any."""
        ...

    def write(self, folder: Path) -> None:
        """Write its pages and documents into a folder."""
        ...


SITES = Group[Site](
    "heredity.sites", "site", "an object with pool, serving and write", lambda site: isinstance(site, Site)
)
