"""Candidates made of resources: parts named `type/name`, each a resource's folder, checked, read and changed as a whole.

A part is a folder as read by `Registry.init`: its files, and an optional manifest `resource.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.outside import json_value
from heredity.resources import building, contracts
from heredity.resources.building import SKILL
from heredity.resources.candidate import AGENT, Candidate
from heredity.resources.store import Store
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Draft, Manifest, Number, Version

if TYPE_CHECKING:
    from heredity.resources.registry import Registry

ABOUT = "resource.json"
"""The file of a part with its manifest."""

POLICY = "agent/policy"
"""Resource name of a run's policy program."""


def manifest_of(part: SourceTree, where: str = "a part") -> Manifest:
    """Return a part's manifest: its `resource.json`, or an empty one, with the description of its SKILL.md if it has none.

    Raises:
        ConfigError: if it is not a JSON object, or not a valid manifest, or the SKILL.md cannot be read.
    """
    try:
        about = json_value(part.get(ABOUT, b"{}"))
        manifest = Manifest.from_json(about)
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{ABOUT} of {where} is not a JSON object: {error}; correct it there") from error
    except ConfigError as error:
        raise ConfigError(f"{ABOUT} of {where}: {error}") from error
    return with_description(part, manifest, where)


def with_description(part: SourceTree, manifest: Manifest, where: str) -> Manifest:
    """Return a manifest with the description of the part's SKILL.md, if it has none.

    Raises:
        ConfigError: if the SKILL.md cannot be read.
    """
    if manifest.description or SKILL not in part:
        return manifest
    return replace(
        manifest, description=contracts.read_contract(part.text(SKILL), where=f"{SKILL} of {where}").description
    )


def files_of(part: SourceTree) -> SourceTree:
    """Return a part's files without its manifest."""
    return SourceTree({path: data for path, data in part.items() if path != ABOUT})


def part_of(files: SourceTree, manifest: Manifest) -> SourceTree:
    """Return the part of files and a manifest; the inverse of `manifest_of` and `files_of`."""
    if manifest == Manifest():
        return files
    return files.with_file(ABOUT, json.dumps(manifest.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def draft_of(name: str, part: SourceTree, note: str = "") -> Draft:
    """Return a candidate's part as the draft of a version.

    Raises:
        ConfigError: if the name is not `type/name`, or the manifest is wrong.
    """
    type_, slash, own = name.partition("/")
    if not slash:
        raise ConfigError(f"{name!r} is not a part of a candidate of resources; parts are named like prompt/system")
    return Draft(type_, own, files_of(part), manifest_of(part, name), note=note)


def check_candidate(candidate: Candidate) -> None:
    """Check that every part can be built: a resource that fails to load never replaces a good one.

    Raises:
        ConfigError: if a part cannot; the message names all of them, and their files.
    """
    faults: list[str] = []
    for name, part in candidate.parts.items():
        try:
            draft = draft_of(name, part)
            building.check(draft.type, draft.name, draft.tree, draft.manifest)
        except ConfigError as error:
            faults.append(str(error))
    if faults:
        raise ConfigError("; ".join(faults))


def candidate_from_folder(folder: Path) -> Candidate:
    """Return the candidate in a folder `TYPE/NAME/…`.

    Raises:
        ConfigError: if the folder is empty, or a part cannot be built.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; give one that holds prompt/NAME, tool/NAME and so on")
    parts = {
        f"{kind.name}/{own.name}": SourceTree.from_folder(own)
        for kind in sorted(p for p in folder.iterdir() if p.is_dir())
        for own in sorted(p for p in kind.iterdir() if p.is_dir())
    }
    if not parts:
        raise ConfigError(f"{folder} holds no resources; put them into folders such as prompt/system/prompt.md")
    candidate = Candidate(parts)
    check_candidate(candidate)
    return candidate


def candidate_from_registry(registry: Registry, resources: Mapping[str, str | None]) -> Candidate:
    """Return the candidate of registered resources, `"prompt/system"` to a version such as `"1.0.2"` or None for the newest.

    Raises:
        UnknownNameError: if a resource or version does not exist.
    """
    parts: dict[str, SourceTree] = {}
    for name, number in resources.items():
        type_, _, own = name.partition("/")
        version = registry.store.get(type_, own, None if number is None else Number.parse(number))
        parts[name] = part_of(registry.store.tree(version), version.manifest)
    return Candidate(parts)


def variables(candidate: Candidate) -> dict[str, str]:
    """Return the variables: every text file of every evolvable part, under `"prompt/system:prompt.md"`.

    The set Θ of Autogenesis (section 3.2): files of parts whose manifest does not say `evolvable: false`. A file is
    named by its part and its path.
    """
    texts: dict[str, str] = {}
    for name, part in candidate.parts.items():
        if not manifest_of(part, name).evolvable:
            continue
        for path, data in part.items():
            try:
                texts[f"{name}:{path}"] = data.decode()
            except UnicodeDecodeError:
                continue
    return texts


def with_variables(candidate: Candidate, edits: Mapping[str, str | None]) -> Candidate:
    """Return the candidate after edits: a text replaces or adds a file (or a part), None removes it.

    Args:
        candidate: the candidate, which is not modified.
        edits: `"type/name:path"` to the new text.

    Raises:
        ConfigError: if a part is not evolvable, a name is not of this form, or the result cannot be built.
        UnknownNameError: if a file to remove does not exist.
    """
    parts: dict[str, dict[str, bytes | str]] = {name: dict(part) for name, part in candidate.parts.items()}
    for variable, text in edits.items():
        name, colon, path = variable.partition(":")
        if not colon or not path or "/" not in name:
            raise ConfigError(f"{variable!r} is not a variable; write it like prompt/system:prompt.md")
        if name in candidate.parts and not manifest_of(candidate.parts[name], name).evolvable:
            raise ConfigError(f"{name} is not evolvable, so {path} of it stays as it is")
        files = parts.setdefault(name, {})
        if text is not None:
            files[path] = text
        elif files.pop(path, None) is None:
            raise UnknownNameError(f"file of {name}", path, [p for p in files if p])
    made = Candidate({name: SourceTree(files) for name, files in parts.items() if set(files) - {ABOUT}})
    check_candidate(made)
    return made


def changed_parts(before: Candidate, after: Candidate) -> list[str]:
    """Return the names of the parts that differ, sorted."""
    names = sorted({*before.parts, *after.parts})
    return [name for name in names if before.parts.get(name) != after.parts.get(name)]


def record_candidate(
    store: Store, candidate: Candidate, parents: Sequence[Mapping[str, Version]], note: str, created: str = ""
) -> dict[str, Version]:
    """Add a candidate's parts to a store as versions, moving no head; a part equal to a parent's adds nothing.

    Args:
        store: the store.
        candidate: the candidate; the policy program of a run is named `agent/policy`.
        parents: for each candidate it was made from, the names of the parts and their versions.
        note: the reason.
        created: creation time, in UTC (ISO 8601); `""` for now.

    Returns:
        Each part's name to its version.
    """
    versions: dict[str, Version] = {}
    for part_name, part in candidate.parts.items():
        name = POLICY if part_name == AGENT else part_name
        draft = draft_of(name, part, note)
        before = [parent[name] for parent in parents if name in parent]
        same = next((v for v in before if (v.content, v.manifest) == (draft.tree.digest, draft.manifest)), None)
        if same is None:
            lineage = tuple(dict.fromkeys(v.digest for v in before))
            same = store.put(replace(draft, parents=lineage, created=created), branch=None)
        versions[name] = same
    return versions
