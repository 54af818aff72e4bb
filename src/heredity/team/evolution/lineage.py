"""Versions of a team: the initial one, committed and refused ones, and restoring them (Autogenesis, section 3.1).

They are stored in a store of resources. The team.toml is a version like any other; a person's change of it becomes
the newest one. Edits committed across tasks move the heads from which later tasks start; edits for one task move a
separate branch; refused ones move nothing. `heredity resources` lists, compares and restores all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import DamagedRecordError, UnknownNameError
from heredity.methods.contract import Decision
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import changed_parts, draft_of, part_of
from heredity.resources.store import Store
from heredity.resources.versions import MAIN, Number, Version
from heredity.team.team import write_whole

CONFIGURED = "as configured"
"""The note of versions written by a person."""

_FILE = "team.json"
_REASON = 3000


class Lineage:
    """The versions of one team.

    Args:
        path: the store; created if missing.
        session: the task's name, for notes and for its branch.
        across: apply commits to later tasks too.
    """

    def __init__(self, path: Path, session: str, *, across: bool) -> None:
        self.store = Store(path)
        self._session = session
        self._branch = MAIN if across else f"task-{re.sub(r'[^A-Za-z0-9._-]', '-', session)}"[:64]

    def __enter__(self) -> Lineage:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def start(self, configured: Candidate, folder: Path) -> Candidate:
        """Return the initial team of a task, the same whenever the task is resumed.

        Args:
            configured: the team of the team.toml.
            folder: the task's folder; its `team.json` holds the versions.

        Raises:
            DamagedRecordError: if the file is damaged.
        """
        path = folder / _FILE
        if path.exists():
            return self.candidate(_numbers(path))
        with self.store.transaction():
            for name, part in configured.parts.items():
                self._bring(name, part)
        numbers = self.heads()
        write_whole(path, json.dumps(numbers, indent=1))
        return self.candidate(numbers)

    def heads(self) -> dict[str, str]:
        """Return the version of each part from which the next task starts."""
        return {f"{v.type}/{v.name}": str(v.number) for v in self.store.list()}

    def candidate(self, numbers: Mapping[str, str]) -> Candidate:
        """Return the team with the given versions.

        Raises:
            UnknownNameError: if a number does not exist.
        """
        parts: dict[str, SourceTree] = {}
        for name, number in numbers.items():
            version = self.store.get(*_identity(name), Number.parse(number))
            parts[name] = part_of(self.store.tree(version), version.manifest)
        return Candidate(parts)

    def keep(self, decision: Decision, before: Candidate, whole: Candidate) -> dict[str, str]:
        """Add a version for each changed part, and move heads to committed ones; idempotent."""
        verdict = "committed" if decision.accepted else "refused"
        note = f"{self._session}: {verdict}: {decision.reason}"[:_REASON]
        versions: dict[str, str] = {}
        with self.store.transaction():
            for name in changed_parts(before, whole):
                if name not in whole.parts:
                    versions[name] = "removed"
                    if decision.accepted and self._branch == MAIN:
                        self.store.move(*_identity(name), hidden=True)
                    continue
                version = self._version(name, whole.parts[name], before.parts.get(name), note)
                versions[name] = str(version.number)
                if decision.accepted:
                    self.store.move(*_identity(name), version.number, branch=self._branch)
        return versions

    def restore(self, numbers: Mapping[str, str]) -> dict[str, str]:
        """Make earlier versions the heads for later tasks; return the changes. Nothing is lost: the others stay in the lineage."""
        heads, moved = self.heads(), dict[str, str]()
        with self.store.transaction():
            for name in heads.keys() | numbers.keys():
                if heads.get(name) == numbers.get(name):
                    continue
                moved[name] = numbers.get(name, "removed")
                if name in numbers:
                    self.store.move(*_identity(name), Number.parse(numbers[name]))
                else:
                    self.store.move(*_identity(name), hidden=True)
        return moved

    def _bring(self, name: str, part: SourceTree) -> None:
        """Make a person's new version the head; an unchanged one leaves the evolved head."""
        draft = draft_of(name, part, CONFIGURED)
        versions = self._versions(name)
        if not versions:
            self.store.put(draft, new=True, action="register")
            return
        written = [v for v in versions if v.note == CONFIGURED]
        same = bool(written) and (written[-1].content, written[-1].manifest) == (draft.tree.digest, draft.manifest)
        if not same:
            parents = (self._head(name) or versions[-1]).digest
            version = self.store.put(replace(draft, parents=(parents,)), branch=None)
            self.store.move(*_identity(name), version.number)

    def _version(self, name: str, part: SourceTree, before: SourceTree | None, note: str) -> Version:
        draft = draft_of(name, part, note)
        versions = self._versions(name)
        for version in reversed(versions):
            if (version.content, version.manifest, version.note) == (draft.tree.digest, draft.manifest, note):
                return version
        earlier = draft_of(name, before) if before is not None else None
        made_from = [
            v for v in versions if earlier and (v.content, v.manifest) == (earlier.tree.digest, earlier.manifest)
        ]
        return self.store.put(replace(draft, parents=tuple(v.digest for v in made_from[-1:])), branch=None)

    def _versions(self, name: str) -> list[Version]:
        try:
            return self.store.list(*_identity(name))
        except UnknownNameError:
            return []

    def _head(self, name: str) -> Version | None:
        number = self.heads().get(name)
        return self.store.get(*_identity(name), Number.parse(number)) if number else None


def _identity(name: str) -> tuple[str, str]:
    type_, _, own = name.partition("/")
    return type_, own


def _numbers(path: Path) -> dict[str, str]:
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(number) for name, number in value.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise DamagedRecordError(f"{path} does not say which versions the team began with: {error}") from error
