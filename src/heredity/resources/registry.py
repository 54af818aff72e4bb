"""The registry: every operator of Autogenesis' table 7, the same for all six types, over one store; and folders of resources.

Changes build the new version first (one that cannot be built is refused, and the head stays where it was).

Folders are `TYPE/NAME/…`, or collections of Agent Skills, `NAME/SKILL.md` with the files next to it. Every file is kept
byte for byte, its permissions in the manifest's metadata, under `modes`. Links are refused, caches (`__pycache__`, `*.pyc`,
`.git`, `.ipynb_checkpoints`) are left out.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, DamagedRecordError, HeredityError, RecordError, UnknownNameError
from heredity._core.outside import json_value, read_bytes, read_text
from heredity.records.run_folder import write_atomic
from heredity.resources import building, contracts, retrieval
from heredity.resources.assembly import ABOUT, files_of, manifest_of, part_of, with_description
from heredity.resources.building import CODE, PROMPT, SKILL, Instance
from heredity.resources.candidate import difference
from heredity.resources.contracts import parameters_of
from heredity.resources.store import Store
from heredity.resources.tree import AnyPath, SourceTree
from heredity.resources.versions import (
    FIRST,
    MAIN,
    TYPES,
    Draft,
    Manifest,
    Number,
    Version,
    checked_identity,
    checked_name,
)

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


_FORMAT = "heredity-resources-1"
Entries = list[tuple[Version, SourceTree]]
Heads = list[tuple[str, Version, bool]]
"""A branch, its head, and whether the resource is hidden."""


def to_json(
    entries: Iterable[tuple[Version, SourceTree]], heads: dict[str, list[tuple[str, str, bool]]]
) -> dict[str, Any]:
    """Return versions as JSON.

    Args:
        entries: versions and their files.
        heads: `type/name` to its branches, each with its head's digest and whether the resource is hidden.
    """
    versions: list[dict[str, Any]] = []
    contents: dict[str, Any] = {}
    for version, tree in entries:
        versions.append({**version.to_json(), "digest": version.digest})
        contents[version.content] = {path: _encoded(data) for path, data in tree.items()}
    return {
        "format": _FORMAT,
        "versions": versions,
        "heads": heads,
        "contents": contents,
    }


def from_json(text: str, *, where: str) -> tuple[Entries, Heads]:
    """Read what `to_json` gave, and check every digest in it.

    Raises:
        ConfigError: if it is not JSON of this format.
        DamagedRecordError: if a version or a content does not match its digest.
    """
    try:
        value = json_value(text)
    except ValueError as error:
        raise DamagedRecordError(f"{where} is not JSON, or cut short: {error}; export it again") from error
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise ConfigError(f"{where} is no export of resources; it must be an object with format {_FORMAT!r}")
    try:
        trees = {
            digest: SourceTree({p: _decoded(d) for p, d in files.items()})
            for digest, files in value["contents"].items()
        }
        entries = [_entry(entry, trees, where) for entry in value["versions"]]
        by_digest = {version.digest: version for version, _ in entries}
        heads = [
            (checked_name(str(branch), "name of a branch"), by_digest[digest], bool(hidden))
            for branches in value["heads"].values()
            for branch, digest, hidden in branches
            if digest in by_digest
        ]
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error, ConfigError) as error:
        raise DamagedRecordError(f"{where} is damaged: {error!r:.200}; export it again") from error
    return entries, heads


def _entry(value: dict[str, Any], trees: dict[str, SourceTree], where: str) -> tuple[Version, SourceTree]:
    try:
        version = Version.from_json({key: inner for key, inner in value.items() if key != "digest"})
    except DamagedRecordError as error:
        raise DamagedRecordError(f"{where}: {error}") from error
    if version.digest != value["digest"]:
        raise DamagedRecordError(
            f"{where}: {version.label} does not match its digest, for it was changed; export it again"
        )
    tree = trees[version.content]
    if tree.digest != version.content:
        raise DamagedRecordError(f"{where}: the files of {version.label} do not match their digest; export it again")
    return version, tree


def _encoded(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _decoded(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["base64"], validate=True)


OPERATORS = (
    *("init", "build", "register", "unregister"),
    *("get", "get_info", "list", "retrieve", "get_state"),
    *("update", "copy", "restore", "get_variables", "set_variables"),
    "run",
    *("save_to_json", "load_from_json", "save_contract", "load_contract"),
    *("versions", "log", "diff", "save_to_folder"),
)
"""Operators by name: those of the paper, and the last four."""

Files = SourceTree | Mapping[str, str | bytes] | str
"""A resource's files; a text is a prompt's."""

_PARAMETER = "parameters."


class Registry:
    """Resources by name, their versions, and the operators on them (Autogenesis, appendix E.2.2, table 7).

    Versions are given as text such as `"1.0.2"`, manifests as a `Manifest` or a JSON object.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def operate(self, operator: str, **arguments: Any) -> Any:
        """Call an operator by its name.

        Raises:
            UnknownNameError: if the operator does not exist.
            ConfigError: if it does not take these arguments.
        """
        if operator not in OPERATORS:
            raise UnknownNameError("operator", operator, OPERATORS)
        method = getattr(self, operator)
        try:
            inspect.signature(method).bind(**arguments)
        except TypeError as error:
            raise ConfigError(f"{operator}{inspect.signature(method)}: {error}") from error
        return method(**arguments)

    # --- lifecycle and registration

    def init(self, folder: AnyPath) -> list[Version]:
        """Register the resources of a folder; return the new versions.

        Changed resources are updated. If any resource cannot be built, none is registered, and the error names all
        invalid ones.

        Args:
            folder: a folder `TYPE/NAME/…` with optional manifests `resource.json`, a skill, or a collection of skills
                `NAME/SKILL.md`, see `heredity.resources.registry`.
        """
        drafts = read_folder(Path(folder))
        with self.store.transaction():
            return [version for draft in drafts if (version := self._bring(draft)) is not None]

    def build(
        self, type_: str, name: str, files: Files, manifest: Manifest | Mapping[str, Any] | None = None
    ) -> Instance:
        """Build an instance from files without registering it.

        Raises:
            ConfigError: if it cannot be built; the message says why.
        """
        tree = _tree(files)
        draft = Draft(type_, name, tree, _manifest(manifest, tree))
        return building.build(Version.of(draft, FIRST, ()), draft.tree)

    def register(
        self,
        type_: str,
        name: str,
        files: Files,
        manifest: Manifest | Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
        note: str = "",
    ) -> Version:
        """Register a new resource; its first version is 1.0.0 unless another is given.

        Raises:
            ConfigError: if it cannot be built, is registered already, or needs itself through its pins.
        """
        tree = _tree(files)
        draft = Draft(type_, name, tree, _manifest(manifest, tree), note, _number(version))
        building.check(type_, name, draft.tree, draft.manifest)
        return self.store.put(draft, new=True, action="register")

    def unregister(self, type_: str, name: str) -> Version:
        """Hide a resource; its versions stay, can be read by number, and restoring one of them shows it again."""
        return self.store.move(type_, name, hidden=True)

    # --- retrieval and inspection

    def get(self, type_: str, name: str, version: str | None = None, *, branch: str = MAIN) -> Instance:
        """Return an instance of the branch's head or of one version."""
        stored = self.store.get(type_, name, _number(version), branch=branch)
        return building.build(stored, self.store.tree(stored))

    def get_info(self, type_: str, name: str, version: str | None = None, *, branch: str = MAIN) -> dict[str, Any]:
        """Return a version's manifest, digest, files and, for a tool, argument schema (JSON).

        The schema comes from its manifest, or else from the signature of `run`; a tool without either has a `fault`
        instead.
        """
        stored = self.store.get(type_, name, _number(version), branch=branch)
        info = {**stored.to_json(), "digest": stored.digest, "files": list(self.store.tree(stored))}
        if type_ == "tool":
            try:
                schema = parameters_of(stored.label, self.store.tree(stored), stored.manifest)
                info["function"] = {"name": name, "description": stored.manifest.description, "parameters": schema}
            except ConfigError as error:
                info["fault"] = str(error)
        return info

    def list(self, type_: str | None = None, *, hidden: bool = False) -> list[str]:
        """Return `type/name` of every resource, with the unregistered ones if `hidden`."""
        return [f"{v.type}/{v.name}" for v in self.store.list(type_, hidden=hidden)]

    def retrieve(
        self, query: str, type_: str | None = None, *, limit: int = 5, by: str = "words", model: AnyPath | None = None
    ) -> list[tuple[Version, float]]:
        """Return the resources relevant to a question, with their score (above 0; higher is better), best first.

        Args:
            query: the question.
            type_: only this type.
            limit: limit on their number.
            by: `"words"` (BM25) or `"embeddings"` (cosine), see `retrieval`.
            model: folder of the model2vec model for embeddings; None for `HEREDITY_EMBEDDINGS`.
        """
        if by not in ("words", "embeddings"):
            raise UnknownNameError("way of retrieval", by, ("words", "embeddings"))
        heads = self.store.list(type_)
        texts = [f"{v.name} {v.manifest.description} {' '.join(self.store.tree(v).texts().values())}" for v in heads]
        scores = retrieval.scores(query, texts) if by == "words" else retrieval.similarities(query, texts, model)
        ranked = sorted(zip(heads, scores, strict=True), key=lambda pair: -pair[1])
        return [(version, score) for version, score in ranked if score > 0][:limit]

    def get_state(self, type_: str, name: str) -> dict[str, Any]:
        """Return the state of a resource: branches, versions, whether it is hidden, and the reason a head does not load (JSON)."""
        versions = {v.digest: v for v in self.store.list(type_, name)}
        branches: dict[str, Any] = {}
        for branch, digest in self.store.branches(type_, name).items():
            version = versions[digest]
            branches[branch] = {"version": str(version.number), "digest": digest, "fault": self._fault(version)}
        return {"branches": branches, "versions": len(versions), "hidden": self.store.hidden(type_, name)}

    # --- versions

    def update(
        self,
        type_: str,
        name: str,
        files: Files | None = None,
        manifest: Manifest | Mapping[str, Any] | None = None,
        *,
        branch: str = MAIN,
        base: str | None = None,
        part: str = "patch",
        note: str = "",
    ) -> Version:
        """Add a version to a branch; missing arguments are taken from the base version.

        Args:
            type_: the resource's type.
            name: its name.
            files: its files.
            manifest: its manifest (a JSON object changes only the keys it has).
            branch: the branch to move.
            base: the base version; by default the branch's head.
            part: `"patch"`, `"minor"` or `"major"`: the part of the highest number so far to increase.
            note: the reason.

        Raises:
            ConfigError: if the new version cannot be built; the head stays where it was.
        """
        with self.store.transaction():
            parent = self.store.get(type_, name, _number(base), branch=branch)
            tree = self.store.tree(parent) if files is None else _tree(files)
            if not isinstance(manifest, Manifest):
                old = self.store.tree(parent)
                before = parent.manifest.to_json()
                if _manifest(replace(parent.manifest, description=""), old) == parent.manifest:
                    del before["description"]
                manifest = _manifest({**before, **(manifest or {})}, tree)
            building.check(type_, name, tree, manifest)
            draft = Draft(type_, name, tree, manifest, note, part=part, parents=(parent.digest,))
            return self.store.put(draft, branch=branch)

    def copy(
        self, type_: str, name: str, new_name: str, *, version: str | None = None, new_version: str | None = None
    ) -> Version:
        """Register a version under another name; its parent is the version it was copied from."""
        with self.store.transaction():
            source = self.store.get(type_, name, _number(version))
            draft = Draft(
                *(type_, new_name, self.store.tree(source), source.manifest, f"copy of {source.label}"),
                number=_number(new_version),
                parents=(source.digest,),
            )
            building.check(type_, new_name, draft.tree, draft.manifest)
            return self.store.put(draft, new=True, action="copy")

    def restore(self, type_: str, name: str, version: str, *, branch: str = MAIN) -> Version:
        """Point a branch, created if needed, at a version; nothing is removed, and the next update has it as its parent.

        Raises:
            ConfigError: if the version cannot be built; the head stays where it was.
        """
        self.get(type_, name, version)
        return self.store.move(type_, name, Number.parse(version), branch=branch)

    def get_variables(self, type_: str, name: str, *, branch: str = MAIN) -> dict[str, Any]:
        """Return the variables: every text file, by its path, and `parameters.KEY` (JSON)."""
        version = self.store.get(type_, name, branch=branch)
        files = self.store.tree(version).texts()
        return {**files, **{_PARAMETER + key: value for key, value in version.manifest.parameters.items()}}

    def set_variables(
        self, type_: str, name: str, variables: Mapping[str, Any], *, branch: str = MAIN, note: str = ""
    ) -> Version:
        """Change variables and add the resulting version.

        Raises:
            ConfigError: if the resource is not evolvable, or the new version cannot be built; the head stays where it
                was.
            UnknownNameError: if a variable does not exist.
        """
        with self.store.transaction():
            version = self.store.get(type_, name, branch=branch)
            if not version.manifest.evolvable:
                raise ConfigError(
                    f"{version.label} is not evolvable; update its manifest with evolvable: true to allow it"
                )
            defined = self.get_variables(type_, name, branch=branch)
            for key in variables:
                if key not in defined:
                    raise UnknownNameError(f"variable of {type_}/{name}", key, defined)
            files: dict[str, Any] = {**self.store.tree(version)}
            parameters = dict(version.manifest.parameters)
            for key, value in variables.items():
                if key.startswith(_PARAMETER) and key not in files:
                    parameters[key.removeprefix(_PARAMETER)] = value
                elif isinstance(value, str):
                    files[key] = value
                else:
                    raise ConfigError(f"{key} of {type_}/{name} is a file and takes text, not {value!r:.60}")
            base = str(version.number)
            return self.update(type_, name, files, {"parameters": parameters}, branch=branch, base=base, note=note)

    def versions(self, type_: str, name: str) -> list[Version]:
        """Return every version of a resource, the first one first."""
        return self.store.list(type_, name)

    def log(self, type_: str, name: str) -> dict[str, Any]:
        """Return the history of a resource (JSON).

        Returns:
            `versions`, newest first, with `parents` and the `branches` that point to each; `moves` of branches, the first one
            first; whether it is `hidden`.
        """
        versions = self.store.list(type_, name)
        labels = {v.digest: str(v.number) for v in versions}
        branches = self.store.branches(type_, name)
        rows = [
            {
                "version": str(v.number),
                "digest": v.digest,
                "created": v.created,
                "note": v.note,
                "parents": [labels.get(p) or self.store.label(p) for p in v.parents],
                "branches": [branch for branch, digest in branches.items() if digest == v.digest],
            }
            for v in reversed(versions)
        ]
        moves = [
            {**move.to_json(), "version": labels.get(move.target, move.target[:12])}
            for move in self.store.moves(type_, name)
        ]
        return {"versions": rows, "moves": moves, "hidden": self.store.hidden(type_, name)}

    def diff(self, type_: str, name: str, before: str, after: str | None = None) -> dict[str, str]:
        """Return the changes between two versions, by default up to the head: `before`, `after`, and a unified `diff`."""
        pair = [self.store.get(type_, name, _number(number)) for number in (before, after)]
        old, new = [(version, self.store.tree(version)) for version in pair]
        return {"before": old[0].label, "after": new[0].label, "diff": difference(old, new)}

    # --- execution

    def run(self, type_: str, name: str, inputs: Mapping[str, Any] | None = None, *, version: str | None = None) -> Any:
        """Fill in a prompt or search a memory (see `Instance.run`).

        Code is not run in this process: `heredity.engine.resource_runs` runs tools, agents and environments.

        Raises:
            IsolationError: if the resource is neither.
        """
        return self.get(type_, name, version).run(inputs or {})

    # --- serialization

    def save_to_json(self, path: AnyPath, *, intact: bool = False) -> int:
        """Write every version, hidden resources and their history too, and return how many.

        Args:
            path: the file, which is replaced only when the new one is complete.
            intact: leave out damaged parts instead of refusing.
        """
        entries = list(self.store.intact()) if intact else [(v, self.store.tree(v)) for v in self.store.versions()]
        heads: dict[str, list[tuple[str, str, bool]]] = {}
        kept = {version.digest: version for version, _ in entries}
        for type_, name in sorted({(v.type, v.name) for v in kept.values()}):
            branches = self.store.branches(type_, name, intact=intact)
            hidden = bool(branches) and self.store.hidden(type_, name)
            newest = max((v for v in kept.values() if (v.type, v.name) == (type_, name)), key=lambda v: v.number)
            reachable = {branch: digest for branch, digest in branches.items() if digest in kept}
            heads[f"{type_}/{name}"] = [(b, digest, hidden) for b, digest in {MAIN: newest.digest, **reachable}.items()]
        text = json.dumps(to_json(entries, heads), indent=1, ensure_ascii=False)
        write_atomic(Path(path), text.encode())
        return len(entries)

    def load_from_json(self, path: AnyPath) -> int:
        """Add the versions of a `save_to_json` file, all or nothing, and return the number of new ones.

        Versions keep their numbers (and digests). Heads of existing resources do not move.

        Raises:
            DamagedRecordError: if something in it does not match its digest.
            ConfigError: if a version is here already with other content, or a head cannot be built.
        """
        try:
            text = read_text(Path(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is no text in UTF-8: {error}; give exported resources") from error
        entries, heads = from_json(text, where=str(path))
        trees = {version.digest: tree for version, tree in entries}
        for _, version, _ in heads:
            building.build(version, trees[version.digest])
        return self.store.adopt(entries, heads)

    def save_contract(self, type_: str, name: str, folder: AnyPath, *, version: str | None = None) -> Path:
        """Write `FOLDER/NAME/SKILL.md` and return its path."""
        stored = self.store.get(type_, name, _number(version))
        target = Path(folder) / name / SKILL
        text = str(contracts.contract_of(stored, self.store.tree(stored)))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, text.encode())
        return target

    def load_contract(self, path: AnyPath) -> Version:
        """Read `NAME/SKILL.md` into the resource it describes: a tool, unless its metadata name another type.

        Where other files lie next to it, it is the folder of a skill, which is read whole. A missing tool is registered; an
        unchanged one gets no new version.

        Raises:
            ConfigError: if it is not a SKILL.md, its name differs from its folder's, or it describes a missing
                resource that is not a tool.
        """
        given = Path(path)
        file = given / SKILL if given.is_dir() else given
        text = _plain_file(file)
        contract = contracts.read_contract(text, where=str(file))
        if contract.name != file.resolve().parent.name:
            raise ConfigError(f"{file} names {contract.name!r}; its folder must have the same name")
        type_, description = contracts.type_of(contract, where=str(file)), {"description": contract.description}
        if type_ == "tool":
            draft = draft_of(type_, file.resolve().parent)
            building.check(type_, draft.name, draft.tree, draft.manifest)
            if len(draft.tree) > 1 or f"tool/{draft.name}" not in self.list(type_, hidden=True):
                with self.store.transaction():
                    return self._bring(draft) or self.store.get(type_, draft.name)
        with self.store.transaction():
            if f"{type_}/{contract.name}" not in self.list(type_, hidden=True):
                raise ConfigError(
                    f"{file} describes {type_}/{contract.name}, which is not here, and has none of its files; take it"
                    " along with `heredity resources export`"
                )
            head = self.store.get(type_, contract.name)
            tree = self.store.tree(head)
            if str(contracts.contract_of(head, tree)) == text:
                return head
            files = tree.with_file(SKILL, text) if type_ == "tool" else None
            return self.update(type_, contract.name, files, description, note=f"from {file.name}")

    def save_to_folder(self, folder: AnyPath, names: Iterable[str] = ()) -> list[Version]:
        """Write the heads of resources as `init` reads them, and return them.

        Args:
            folder: gets `NAME/…` for each if all are skills, else `TYPE/NAME/…`.
            names: `type/name` of each; all by default.

        Raises:
            UnknownNameError: if one does not exist.
            ConfigError: if a resource's folder exists already.
        """
        heads = self._heads(names)
        write_folder([(head, self.store.tree(head)) for head in heads], Path(folder))
        return heads

    # --- inside

    def _heads(self, names: Iterable[str]) -> list[Version]:
        return [self.store.get(*_split(name)) for name in names] or self.store.list()

    def _bring(self, draft: Draft) -> Version | None:
        if f"{draft.type}/{draft.name}" not in self.list(draft.type, hidden=True):
            return self.store.put(draft, new=True, action="register")
        head = self.store.get(draft.type, draft.name)
        if (head.content, head.manifest) == (draft.tree.digest, draft.manifest):
            return None
        return self.store.put(replace(draft, parents=(head.digest,)))

    def _fault(self, version: Version) -> str | None:
        try:
            building.build(version, self.store.tree(version))
        except HeredityError as error:
            return str(error)
        return None


def _split(name: str) -> tuple[str, str]:
    type_, slash, own = name.partition("/")
    if not slash:
        raise ConfigError(f"{name!r} is not a resource; write TYPE/NAME, such as prompt/solver")
    return type_, own


def _plain_file(file: Path) -> str:
    try:
        return read_bytes(file).decode("utf-8-sig", "replace")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}; give a tool's {SKILL}") from error


def _tree(files: Files) -> SourceTree:
    if isinstance(files, str):
        files = {PROMPT: files}
    return files if isinstance(files, SourceTree) else SourceTree(files)


def _manifest(given: Manifest | Mapping[str, Any] | None, files: SourceTree) -> Manifest:
    manifest = given if isinstance(given, Manifest) else Manifest.from_json(given or {})
    return with_description(files, manifest, "these files")


def _number(text: str | None) -> Number | None:
    return None if text is None else Number.parse(text)
