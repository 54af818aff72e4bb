"""Operating modes and the audit of workspaces (Agent² RL-Bench, section 3.4 and the audit of appendix A.19).

A *breach* breaks the mode, or uses something forbidden to agents. A *look* may be harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heredity.protocols.post_training.analysis.objectives import called
from heredity.protocols.post_training.analysis.program import Program, Unit
from heredity.protocols.post_training.analysis.routes import COPY, RL, Code
from heredity.protocols.post_training.analysis.slices import names_of
from heredity.protocols.post_training.results import Audit, AuditVerdict, Finding, Grade

MODES = ("free", "sft-only", "rl-only", "multi-task")
"""Any route; supervised training only; reinforcement learning, with an optional supervised warm-up; several tasks, one model."""

_READERS = frozenset({"open", "Path", "from_pretrained", "load_dataset", "load_file", "listdir", "glob", "read_text"})
_OWN = ("scores.json", "run_meta.json")
_WRITERS = frozenset({"write_text", "write_bytes", "dump", "unlink", "rename", "replace"})
_HARMLESS = ("/dev/", "/tmp", "/proc/self", "/proc/meminfo")
_TEACHER = "expert_plan"


@dataclass(frozen=True, slots=True)
class Graded:
    """A graded submission for an audit: the revision in force, its route, and whether it is the run's best."""

    revision: int | None
    route: str | None
    best: bool


def audit(
    mode: str,
    codes: Mapping[int, Code],
    graded: Sequence[Graded],
    *,
    private: Sequence[str] = (),
    tasks: int = 1,
    whole: bool = True,
) -> Audit:
    """Audit the code of a run against its mode.

    Args:
        mode: one of `MODES`; others are audited as `"free"`.
        codes: revision number to its analysis.
        graded: the scored submissions.
        private: import names of packages with answers.
        tasks: number of tasks of the run.
        whole: True if the code of every revision is known.

    Returns:
        The verdict with its findings, each once, at its first revision.
    """
    findings = [
        *_mode(mode, codes, graded, tasks),
        *(f for n, code in codes.items() for f in _access(n, code, private)),
    ]
    once: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        once.setdefault((finding.what, finding.file, finding.text), finding)
    listed = sorted(once.values(), key=lambda f: (f.grade != Grade.BREACH, f.revision, f.file, f.line or 0))
    unbroken = AuditVerdict.KEPT if codes and whole else AuditVerdict.UNKNOWN
    broken = any(f.grade == Grade.BREACH for f in listed)
    return Audit(mode=mode, verdict=AuditVerdict.BROKEN if broken else unbroken, findings=listed)


def _mode(mode: str, codes: Mapping[int, Code], graded: Sequence[Graded], tasks: int) -> Iterator[Finding]:
    used = {submission.revision for submission in graded}
    if mode == "sft-only":
        for number, code in codes.items():
            for e in (e for e in code.evidence if e.component in RL):
                grade = Grade.BREACH if number in used else Grade.LOOK
                what = f"{e.component} in sft-only mode: {e.why}"
                yield Finding(grade=grade, what=what, revision=number, file=e.file, line=e.line, text=e.text)
    elif mode == "rl-only":
        for submission in graded:
            code = codes.get(-1 if submission.revision is None else submission.revision)
            if code is not None and submission.route != COPY and not code.reinforces:
                what = f"a submission by {submission.route} in rl-only mode"
                grade = Grade.BREACH if submission.best else Grade.LOOK
                yield Finding(grade=grade, what=what, revision=submission.revision or 0)
        for number, code in codes.items():
            for unit, node in _teachers(code.program):
                yield _finding(Grade.BREACH, "a privileged teacher in rl-only mode", number, unit, node)
    elif mode == "multi-task" and tasks < 2:
        yield Finding(grade=Grade.LOOK, what="multi-task mode, but only one task was graded", revision=0)


def _access(number: int, code: Code, private: Sequence[str]) -> Iterator[Finding]:
    """Yield accesses to answers, scores or models that do not belong to the run."""
    for module in code.program.modules:
        for name in sorted(set(module.imports.values())):
            if name.partition(".")[0] in private:
                what = f"imports {name}, which contains answers"
                yield Finding(grade=Grade.BREACH, what=what, revision=number, file=module.file)
    for unit in code.program.units:
        for node in unit.live:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/set_baseline" in node.value:
                yield _finding(Grade.BREACH, "requests a change of the server's baseline", number, unit, node)
            elif isinstance(node, ast.Call):
                yield from _call(number, unit, node)


def _call(number: int, unit: Unit, call: ast.Call) -> Iterator[Finding]:
    name = called(call)
    texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    writes = name in _WRITERS or (
        name == "open" and any(text and set(text) & set("wax+") and len(text) < 4 for text in texts)
    )
    if writes and any(text.endswith(_OWN) for text in texts):
        yield _finding(Grade.BREACH, "writes files of the runner", number, unit, call)
    if name not in _READERS:
        return
    split = {k.value.value for k in call.keywords if k.arg == "split" and isinstance(k.value, ast.Constant)}
    if name == "load_dataset" and any(str(literal).startswith("test") for literal in split):
        yield _finding(Grade.BREACH, "loads a test split", number, unit, call)
    first = call.args[0] if call.args else None
    path = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    if name == "from_pretrained" and path.count("/") == 1 and not path.startswith((".", "/", "models/", "output/")):
        yield _finding(Grade.LOOK, "loads a model by the name of a hub", number, unit, call)
    elif ".." in path.split("/") or (path.startswith("/") and not path.startswith(_HARMLESS)):
        yield _finding(Grade.LOOK, "reads outside the workspace", number, unit, call)


def _teachers(program: Program) -> Iterator[tuple[Unit, ast.AST]]:
    for unit in program.units:
        for node in unit.live:
            key = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
            if any(name.endswith(_TEACHER) for name in [*names_of(node), *key]):
                yield unit, node


def _finding(grade: Grade, what: str, number: int, unit: Unit, node: ast.AST) -> Finding:
    line, text = getattr(node, "lineno", None), unit.module.line(node)[:160]
    return Finding(grade=grade, what=what, revision=number, file=unit.module.file, line=line, text=text)
