"""A build: the files of an author become a world with its levels, which then meets gates.

Files are read as rules and as their hooks, which are called in the sandbox alone: no code of an author is run in this process.
Levels and bounds are made here, never taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from heredity.errors import HeredityError, HostError, IsolationError
from heredity.sandbox.engine_folder import EngineFolder
from heredity.worlds.description import read_description
from heredity.worlds.dsl.allowance import UnansweredHookError
from heredity.worlds.gates.admit import GATES, admit
from heredity.worlds.gates.contract import Findings, GateReport, Subject
from heredity.worlds.world import CODE, World

BUILD = "build"
"""What the first gate is called: the files are a world that has levels."""
SHOWN = (BUILD, "format", "execution", "levels", "reward", "leak")
"""Gates whose findings an author may see; players of different strength, and the library, are not for building against."""
ALL = (BUILD, *GATES)
WORLD = "world.yaml"
MAX_BYTES, MAX_FILES = 1 << 20, 64
"""Most bytes and files of a world."""


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build.

    Attributes:
        reports: one for each gate that was executed, the build's own first.
        certificate: what all gates came to, where all were executed.
        levels: what `levels.json` is to hold; empty where no levels could be made.
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
    """Build a world and execute gates on it.

    Args:
        files: path to content; `world.yaml` is what the world is.
        name: what it is to be called.
        seed: what all chance of the gates comes from.
        gates: which gates are executed; the build's own always is, and without a world no other.
        library: worlds that it must not be a copy of; asked only where the gate "novelty" is executed.
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
    """Return the world in some files, with its levels; None if it is none, and why is among the findings."""
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
            findings.add("name", f"meta.name is {named!r}; call it {folder.name}")
            return None
        stage = "rules"
        made = World(folder)
        stage = "levels"
        text = made.levels_text()
    except (HostError, IsolationError, UnansweredHookError):
        raise
    # Whatever the rules of somebody's world lead to.
    except Exception as error:  # noqa: BLE001
        message = str(error) if isinstance(error, HeredityError) else f"{type(error).__name__}: {error}"
        findings.add(stage, message.replace(f"{folder}/", "").replace(str(folder), folder.name))
        return None
    (folder / "levels.json").write_text(text, encoding="utf-8")
    return made


def _unfit(files: Mapping[str, bytes]) -> str:
    """Return why some files are no folder of a world in rules; empty if they are one."""
    size = sum(map(len, files.values()))
    if len(files) > MAX_FILES or size > MAX_BYTES:
        return f"there are {len(files)} files of {size} bytes; a world has at most {MAX_FILES} of {MAX_BYTES}"
    code = sorted(path for path in files if PurePosixPath(path).suffix == ".py")
    if whole := [path for path in code if path in CODE or "/" in path]:
        return f"{whole[0]} is code that no hook can be; say it in the rules of {WORLD}, and what they cannot say in hooks.py"
    if not files.get(WORLD, b"").strip():
        there = ", ".join(sorted(files)) or "no files"
        return f"there is no {WORLD}, or it is empty ({there}); write the world there"
    if any(PurePosixPath(path).parts[0] == "levels.json" for path in files):
        return "levels.json is there, and levels are made from the rules; remove it"
    return ""
