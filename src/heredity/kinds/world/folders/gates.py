"""Gates for world folders: sorts the audit's findings by gate, and compares players in pairs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.ids import digest_bytes, digest_json, generator
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders.actions import enumerate_actions
from heredity.kinds.world.folders.audit import STEPS, audit_folder
from heredity.kinds.world.folders.findings import Finding as Found
from heredity.kinds.world.folders.findings import FolderReport
from heredity.kinds.world.folders.folder import WorldFolder
from heredity.kinds.world.folders.plays import Plays, UnjudgedError
from heredity.kinds.world.gates.admit import GATES, Admission
from heredity.kinds.world.gates.contract import Finding, GateReport
from heredity.kinds.world.gates.reliability import paired_interval

KINDS: Mapping[str, tuple[str, ...]] = {
    "format": ("missing-file", "unreadable", "no-bound"),
    "execution": ("fails", "malformed-crash", "not-deterministic", "outside"),
    "levels": ("duplicate", "unsolvable", "bound-beaten", "generator"),
    "reward": ("invalid-income", "idle-income", "farmable", "unbounded-amount"),
}
"""The gates that apply, with the audit's faults that each rejects."""
LEFT_OUT: Mapping[str, str] = {
    "novelty": "its figures come from rules in this process, and a folder's code runs in the sandbox alone",
    "leak": "a folder does not say which parts of its state are hidden, nor which words are inverse",
}
"""The gates that do not apply, with reasons."""
_LEVELS = 8
_RANDOM = 4


async def admit_folder(
    path: Path | str,
    programs: SandboxedPrograms,
    seed: int = 0,
    *,
    steps: int = STEPS,
    gate: asyncio.Semaphore | None = None,
    notify: Callable[[], None] = lambda: None,
) -> Admission:
    """Run the gates that apply to a folder in the AutoEnv-36 format: four on the audit's findings, and reliability.

    Args:
        path: the folder.
        programs: the sandbox.
        seed: source of all chance of the gates.
        steps: step budget for the search of a level.
        gate: semaphore held by every search of a level.
        notify: called after each level.

    Raises:
        ConfigError: if the folder does not exist.
        HostError: if the sandbox fails.
    """
    folder = WorldFolder(path)
    report = await audit_folder(path, programs, steps, seed=seed, gate=gate, notify=notify)
    by_kind = {finding.kind: finding for finding in report.findings}
    reports: list[GateReport] = []
    for name in GATES:
        if name in KINDS:
            faults = tuple(_finding(by_kind[kind]) for kind in KINDS[name] if kind in by_kind and by_kind[kind].fault)
            if report.unjudged and not faults and name != "format":
                reports.append(GateReport(name, (), {}, unjudged=report.unjudged))
                break
            reports.append(GateReport(name, faults, _figures(name, report)))
        elif name in LEFT_OUT:
            reports.append(GateReport(name, (), {}, LEFT_OUT[name]))
        else:
            try:
                reports.append(await _reliability(folder, programs, report, seed))
            except UnjudgedError as error:
                reports.append(GateReport(name, (), {}, unjudged=str(error)))
    digest = digest_json({name: digest_bytes(data) for name, data in folder.files.items()})
    return Admission(folder.name, digest, seed, tuple(reports))


def _finding(fault: Found) -> Finding:
    message = fault.text if not fault.others else f"{fault.text} (and {len(fault.others)} more)"
    return Finding(fault.kind, message, max(1, len(fault.levels)), fault.level, tuple(fault.actions))


def _figures(name: str, report: FolderReport) -> dict[str, Any]:
    if name == "execution":
        notes = {finding.kind: finding.text for finding in report.findings if not finding.fault}
        return {"plays": report.plays, "steps": report.steps, "notes": notes}
    return {"levels": [row.to_json() for row in report.levels]} if name == "levels" else {}


async def _reliability(folder: WorldFolder, programs: SandboxedPrograms, report: FolderReport, seed: int) -> GateReport:
    """Compare random play with the best valid play on the same levels; a world that cannot distinguish them is useless."""
    actions, _ = enumerate_actions(folder.actions)
    rows = [row for row in report.levels if row.best is not None and row.upper_bound]
    chosen = [rows[index * len(rows) // min(_LEVELS, len(rows))] for index in range(min(_LEVELS, len(rows)))]
    gaps: list[float] = []
    async with Plays(folder, programs) as plays:
        for row in chosen:
            totals: list[float] = []
            for number in range(_RANDOM):
                draws = generator(seed, "gates", row.level, str(number))
                drawn: Sequence[Any] = [actions[int(draws.integers(len(actions)))] for _ in range(folder.max_steps)]
                totals.append((await plays.play(row.level, drawn)).total)
            best = row.best.total if row.best else 0.0
            gaps.append((best - float(np.mean(totals))) / (row.upper_bound or 1.0))
    if not gaps:
        return GateReport("reliability", (Finding("no difference", "no level could be played"),), {})
    low, high = paired_interval(np.array(gaps), generator(seed, "gates", "random", "search"))
    figures = {"levels": [row.level for row in chosen], "gap": float(np.mean(gaps)), "low": low, "high": high}
    if low > 0:
        return GateReport("reliability", (), figures)
    message = f"the search is not better than chance beyond noise ({low:.3f} to {high:.3f}): the world does not distinguish players"
    return GateReport("reliability", (Finding("no difference", message, 1, chosen[0].level),), figures)
