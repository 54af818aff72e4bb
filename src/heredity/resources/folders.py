"""Folders of resources: `TYPE/NAME/…`, and collections of Agent Skills, `NAME/SKILL.md` with whatever lies beside it.

Every file is kept byte for byte, its permissions in the manifest's metadata, under `modes`. Links are refused, caches
(`__pycache__`, `*.pyc`, `.git`, `.ipynb_checkpoints`) are left out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, RecordError, UnknownNameError
from heredity.resources import building, contracts
from heredity.resources.assembly import ABOUT, files_of, manifest_of, part_of, with_description
from heredity.resources.building import CODE, SKILL
from heredity.resources.tree import SourceTree
from heredity.resources.versions import TYPES, Draft, Manifest, Version, checked_identity

MODES = "modes"
"""Key of the metadata: path to permissions in octal digits; `""` to those of all other files, 644 by default."""

_USUAL = "644"
_MODE = re.compile("[0-7]{3}")


def is_skill(type_: str, tree: SourceTree) -> bool:
    """Return whether a resource is an Agent Skill: a tool with a SKILL.md and no program to call."""
    return type_ == "tool" and SKILL in tree and CODE not in tree


def read_folder(folder: Path) -> list[Draft]:
    """Read the resources of a folder: a skill, a collection of skills, `TYPE/NAME/…`, or a mixture of the last two.

    Raises:
        ConfigError: if it holds none, something else, or a resource that cannot be built; the message names all of them.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"{folder} is not a folder; give one of skills, or with a folder for each type: {', '.join(TYPES)}"
        )
    drafts, faults = list[Draft](), list[str]()
    for type_, resource in _resources(folder, faults):
        try:
            checked_identity(type_, resource.name)
            draft = draft_of(type_, resource)
            building.check(draft.type, draft.name, draft.tree, draft.manifest)
            drafts.append(draft)
        except ConfigError as error:
            # An error of reading names the file by its path in the folder.
            faults.append(str(error) if resource.name in str(error) else f"{resource}: {error}")
    names = [f"{draft.type}/{draft.name}" for draft in drafts]
    faults += [f"{name} is there twice; leave one" for name in sorted({n for n in names if names.count(n) > 1})]
    if faults:
        raise ConfigError("; ".join(faults))
    return drafts


def _resources(folder: Path, faults: list[str]) -> Iterator[tuple[str, Path]]:
    if (folder / SKILL).exists():
        yield "tool", folder.resolve()
        return
    empty = True
    for entry in _folders(folder):
        empty = False
        if (entry / SKILL).exists():
            yield "tool", entry
        elif entry.name in TYPES and not entry.is_symlink():
            yield from ((entry.name, resource) for resource in _folders(entry))
        else:
            faults.append(_refusal(entry))
    if empty:
        faults.append(f"{folder} holds no resources; give a folder of skills, or one such as prompt/system/prompt.md")


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__pycache__")))


def _refusal(entry: Path) -> str:
    if entry.is_symlink():
        return f"{entry} is a link; copy the folder instead"
    skills = sum((path / SKILL).exists() for path in _folders(entry))
    if skills:
        return f"{entry} is not a skill but holds {skills}; import {entry}"
    return f"{entry} has no {SKILL} and is no folder of resources; {UnknownNameError('type of resource', entry.name, TYPES)}"


def draft_of(type_: str, folder: Path, name: str = "") -> Draft:
    """Read a resource from a folder of its files, with an optional `resource.json`, its manifest.

    Its name is that of the folder by default.

    Raises:
        ConfigError: if it holds a link or a special file, or its manifest or SKILL.md is wrong.
    """
    part = SourceTree.from_folder(folder)
    manifest, files = manifest_of(part, str(folder)), files_of(part)
    if type_ == "tool" and SKILL in part and ABOUT not in part:
        named = contracts.read_contract(files.text(SKILL), where=str(folder / SKILL)).name
        if named != (name or folder.name):
            raise ConfigError(f"{folder / SKILL} names {named!r}; its folder must have the same name")
    permissions = {path: f"{os.lstat(folder / path).st_mode & 0o777:03o}" for path in files}
    most = Counter(permissions.values()).most_common(1)[0][0] if permissions else _USUAL
    modes = {path: mode for path, mode in permissions.items() if mode != most} | ({} if most == _USUAL else {"": most})
    return Draft(type_, name or folder.name, files, _with_modes(manifest, modes), note=f"from {folder.name}/")


def write_folder(entries: Iterable[tuple[Version, SourceTree]], folder: Path) -> None:
    """Write resources as `read_folder` reads them: `NAME/` if all are skills, else `TYPE/NAME/`.

    Raises:
        ConfigError: if a resource's folder exists already; nothing is written then.
        RecordError: if the folder cannot be written.
    """
    parts = parts_of(entries)
    for path in (folder, *(folder / name for name in parts)):
        if os.path.lexists(path) and not (path == folder and path.is_dir()):
            raise ConfigError(f"{path} exists already; give another folder, or a FILE.json for every version")
    try:
        for name, (part, modes) in parts.items():
            part.write_to(folder / name)
            for path in part:
                (folder / name / path).chmod(int(modes.get(path, modes.get("", _USUAL)), 8))
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error.strerror}; choose another") from error


def parts_of(entries: Iterable[tuple[Version, SourceTree]]) -> dict[str, tuple[SourceTree, dict[str, str]]]:
    """Return the folder of each resource as `write_folder` names it: its files, and their permissions.

    Raises:
        ConfigError: if the recorded permissions are not of this form.
    """
    entries = list(entries)
    flat = all(is_skill(version.type, tree) for version, tree in entries)
    return {(v.name if flat else f"{v.type}/{v.name}"): _part(v, tree) for v, tree in entries}


def _part(version: Version, tree: SourceTree) -> tuple[SourceTree, dict[str, str]]:
    modes: Any = version.manifest.metadata.get(MODES, {})
    if not isinstance(modes, dict) or not all(isinstance(m, str) and _MODE.fullmatch(m) for m in modes.values()):
        raise ConfigError(f'metadata.{MODES} of {version.label} is {modes!r:.80}; expected {{"scripts/run.sh": "755"}}')
    manifest = _with_modes(version.manifest, {})
    alone = with_description(tree, Manifest(), version.label) if SKILL in tree else Manifest()
    part = tree if manifest == alone else part_of(tree, manifest)
    return part, {path: mode for path, mode in modes.items() if path in tree or not path}


def _with_modes(manifest: Manifest, modes: Mapping[str, str]) -> Manifest:
    others = {key: value for key, value in manifest.metadata.items() if key != MODES}
    return replace(manifest, metadata={**others, MODES: dict(modes)} if modes else others)
