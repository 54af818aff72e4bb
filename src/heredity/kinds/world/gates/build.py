"""A build: turns an author's files into a world with levels, and runs the gates on it.

Files are read as rules and hooks; hooks run only in the sandbox, so no code of an author runs in this process. Levels
and bounds are always generated here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HeredityError, HostError, IsolationError
from heredity.kinds.world.description import read_description
from heredity.kinds.world.dsl.bounded import UnansweredHookError
from heredity.kinds.world.gates.admit import GATES, admit
from heredity.kinds.world.gates.contract import Findings, GateReport, Subject
from heredity.kinds.world.world import CODE, World

BUILD = "build"
"""Name of the first gate: the files form a world that has levels."""
SHOWN = (BUILD, "format", "execution", "levels", "reward", "leak")
"""Gates whose findings an author may see; an author must not optimize against the players or the library."""
ALL = (BUILD, *GATES)
WORLD = "world.yaml"
MAX_BYTES, MAX_FILES = 1 << 20, 64
"""Limits on a world's size in bytes and number of files."""


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build.

    Attributes:
        reports: one per executed gate, the build's own first.
        certificate: the result of all gates, if all were executed.
        levels: the contents of `levels.json`; empty if no levels could be made.
    """

    reports: tuple[GateReport, ...]
    certificate: Mapping[str, Any] | None = None
    levels: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        reports = [report.to_json() for report in self.reports]
        return {"reports": reports, "certificate": self.certificate, "levels": self.levels}


def build(
    files: Mapping[str, bytes],
    name: str,
    seed: int,
    gates: Collection[str] = ALL,
    library: Callable[[], Mapping[str, World]] = dict,
) -> Built:
    """Build a world and run gates on it.

    Args:
        files: path to content; `world.yaml` describes the world.
        name: the world's name.
        seed: source of all chance of the gates.
        gates: the gates to run; the build's own always runs, and no other runs without a world.
        library: worlds that it must not copy; requested only if the gate "novelty" runs.
    """
    findings = Findings()
    with EngineFolder() as root:
        folder = root.resolve() / name
        world = _world(files, folder, findings)
        own = GateReport(BUILD, findings.all(), {"files": len(files), "bytes": sum(map(len, files.values()))})
        if world is None:
            return Built((own,))
        chosen = [gate for gate in GATES if gate in gates]
        subject = Subject.of(world, seed=seed, library=library() if "novelty" in chosen else {})
        admission = admit(subject, only=chosen)
        levels = (folder / "levels.json").read_text(encoding="utf-8")
    certificate = admission.to_json() if len(chosen) == len(GATES) else None
    return Built((own, *admission.gates), certificate, levels)


def _world(files: Mapping[str, bytes], folder: Path, findings: Findings) -> World | None:
    """Return the world in the files, with its levels; None if they do not form one, with the reasons in the findings."""
    fault = _unfit(files)
    if fault:
        findings.add("files", fault)
        return None
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    stage = "schema"
    try:
        named = read_description(folder / WORLD).meta.name
        if named != folder.name:
            findings.add("name", f"meta.name is {named!r}; name it {folder.name}")
            return None
        stage = "rules"
        made = World(folder)
        stage = "levels"
        text = made.levels_text()
    except (HostError, IsolationError, UnansweredHookError):
        raise
    # Rules of any author may raise anything.
    except Exception as error:  # noqa: BLE001
        message = str(error) if isinstance(error, HeredityError) else f"{type(error).__name__}: {error}"
        findings.add(stage, message.replace(f"{folder}/", "").replace(str(folder), folder.name))
        return None
    (folder / "levels.json").write_text(text, encoding="utf-8")
    return made


def _unfit(files: Mapping[str, bytes]) -> str:
    """Return the reason why files do not form a folder of a world in rules; empty if they do."""
    size = sum(map(len, files.values()))
    if len(files) > MAX_FILES or size > MAX_BYTES:
        return f"the world has {len(files)} files of {size} bytes; at most {MAX_FILES} of {MAX_BYTES} are allowed"
    code = sorted(path for path in files if PurePosixPath(path).suffix == ".py")
    if whole := [path for path in code if path in CODE or "/" in path]:
        return f"{whole[0]} cannot be a hook; write rules in {WORLD}, and anything they cannot express in hooks.py"
    if not files.get(WORLD, b"").strip():
        there = ", ".join(sorted(files)) or "no files"
        return f"{WORLD} is missing or empty ({there}); write the world there"
    if any(PurePosixPath(path).parts[0] == "levels.json" for path in files):
        return "levels.json is not allowed, because levels are made from the rules; remove it"
    return ""
