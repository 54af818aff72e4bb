"""The training route of a revision of an agent's code, its operating mode, and the audit of its workspace.

Routes come with evidence, settings and an excerpt (Agent² RL-Bench, table 11; section 3.4 and appendix A.19 for the audit).
A *breach* breaks the mode, or uses something forbidden to agents. A *look* may be harmless.
"""

from __future__ import annotations

import ast
import io
import math
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from heredity._core.errors import RecordError
from heredity._core.outside import json_value
from heredity.protocols.post_training.analysis.objectives import called, names_of, objectives
from heredity.protocols.post_training.analysis.program import Program, Unit
from heredity.protocols.post_training.results import Audit, AuditVerdict, Evidence, Excerpt, Finding, Grade

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


COPY, MISSING, UNRECOGNISED = "copy", "placeholder/missing", "unrecognised"
ROUTES = ("GRPO", "PPO", "DPO", "other RL", "SFT+RL", "SFT-only", UNRECOGNISED, COPY, MISSING)
"""All labels. `other RL` and `unrecognised` are not in the paper: code that trains by none of its routes."""

RL = ("GRPO", "PPO", "DPO", "RL")
"""Components other than supervised training, those that name a route first."""

_MOST_FILES, _MOST_BYTES = 2000, 32 << 20
_SETTINGS = frozenset(
    (
        "learning_rate", "lr", "num_train_epochs", "epochs", "max_steps", "steps", "batch_size",
        "per_device_train_batch_size", "gradient_accumulation_steps", "num_generations", "group", "group_size",
        "beta", "kl", "kl_coef", "clip", "clip_eps", "epsilon", "temperature", "max_new_tokens",
        "max_completion_length", "lora_r", "r", "lora_alpha", "warmup_ratio", "weight_decay", "seed",
    )
)  # fmt: skip
_AROUND = 4

Setting = bool | int | float | str
"""Value type of a key setting in code."""


@dataclass(frozen=True, slots=True)
class Code:
    """The analysis of a revision.

    Attributes:
        route: one of `ROUTES`, from the code alone (a copy is identified by its weights, see `route_of`).
        components: its objectives, such as `("SFT", "GRPO")`.
        evidence: the lines that show this.
        samples: True if the model writes answers.
        environment: True if it steps through an environment.
        settings: key settings, name to value.
        says: the first line of its main file's description; `""` without one.
        because: the rest of the description.
        excerpt: lines around the first evidence; None without.
        unreadable: files that could not be parsed.
        program: its syntax.
    """

    route: str
    components: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    samples: bool
    environment: bool
    settings: Mapping[str, Setting]
    says: str
    because: str
    excerpt: Excerpt | None
    unreadable: tuple[str, ...]
    program: Program = field(repr=False)

    @property
    def trains(self) -> bool:
        """True if there is substantive training code ("coding success")."""
        return self.route not in (COPY, MISSING)

    @property
    def reinforces(self) -> bool:
        """True if any component is not supervised training."""
        return any(name in RL for name in self.components)


def read_revision(data: bytes) -> dict[str, bytes]:
    """Return the regular files of a revision's tar archive, path to content.

    Raises:
        RecordError: if it is not a tar archive, or larger than 2000 files or 32 MiB.
    """
    files: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    continue
                total += member.size
                if total > _MOST_BYTES or len(files) >= _MOST_FILES:
                    raise RecordError(
                        f"a code revision is larger than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB; inspect its blob"
                    )
                files[member.name.removeprefix("./").removeprefix("code/")] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise RecordError(f"a code revision is not a tar archive ({error}); restore its blob from a copy") from error
    return files


class CodeReader:
    """Reads revisions with a cache: revisions often differ only outside the code."""

    def __init__(self) -> None:
        self._classified: dict[frozenset[tuple[str, bytes]], tuple[Program, tuple[Evidence, ...]]] = {}

    def read(self, files: Mapping[str, bytes], changed: Iterable[str] = ()) -> Code:
        """Read the route of a revision; see `read_code`."""
        sources = frozenset((name, data) for name, data in files.items() if name.endswith((".py", ".sh")))
        if sources not in self._classified:
            program = Program(files)
            self._classified[sources] = program, tuple(objectives(program, files))
        program, evidence = self._classified[sources]
        present = {e.component for e in evidence}
        components = tuple(name for name in ("SFT", *RL, "training") if name in present)
        says, because = _words(program, evidence, set(changed))
        return Code(
            route=_label(components),
            components=components,
            evidence=evidence,
            samples="sampling" in present,
            environment="environment" in present,
            settings=_settings(program, files),
            says=says,
            because=because,
            excerpt=_excerpt(program, evidence),
            unreadable=tuple(program.unreadable),
            program=program,
        )


def read_code(files: Mapping[str, bytes], changed: Iterable[str] = ()) -> Code:
    """Read the route of a revision.

    Args:
        files: path to content.
        changed: files that are new or differ from the previous revision; the code's description is taken from these first.
    """
    return CodeReader().read(files, changed)


def _label(components: Sequence[str]) -> str:
    reinforced = [name for name in RL if name in components]
    if reinforced:
        return "SFT+RL" if "SFT" in components else {"RL": "other RL"}.get(reinforced[0], reinforced[0])
    if "SFT" in components:
        return "SFT-only"
    return UNRECOGNISED if components else MISSING


def route_of(code: Code | None, *, is_base: bool) -> str | None:
    """Return the route of a submission.

    Args:
        code: the revision in force; None if unknown.
        is_base: True if its weights equal the base model's, by digest.
    """
    if is_base:
        return COPY
    return None if code is None else code.route


def _settings(program: Program, files: Mapping[str, bytes]) -> dict[str, Setting]:
    """Return the settings from `settings.json`, or else the constants passed to calls and assigned to names."""
    try:
        kept = json_value(files.get("settings.json", b""))
    except ValueError:
        kept = None
    if isinstance(kept, dict):
        return {str(k): v for k, v in list(kept.items())[:24] if _is_setting(v)}
    settings: dict[str, Setting] = {}
    for unit in program.units:
        for node in unit.live:
            pairs: list[tuple[str, ast.expr]] = []
            if isinstance(node, ast.Call) and called(node) != "print":
                pairs = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                pairs = [(node.targets[0].id.lower(), node.value)]
            for name, value in pairs:
                if name in _SETTINGS and isinstance(value, ast.Constant) and _is_setting(value.value):
                    settings.setdefault(name, value.value)
    return dict(sorted(settings.items()))


def _is_setting(value: object) -> TypeGuard[Setting]:
    """Return True if a value can be written as JSON; NaN and infinity cannot."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def _words(program: Program, evidence: Sequence[Evidence], changed: set[str]) -> tuple[str, str]:
    """Return a script's description of itself: changed scripts first, then those no other imports, then those with evidence."""
    imported = {name for m in program.modules for name in m.imports.values()}
    used = {part for name in imported for part in (name, name.rpartition(".")[0])}
    shown = {e.file for e in evidence}
    docs = {m: doc for m in program.modules if (doc := ast.get_docstring(m.tree))}
    first = min(docs, key=lambda m: (m.file not in changed, m.name in used, m.file not in shown, m.file), default=None)
    if first is None:
        return "", ""
    says, _, rest = docs[first].partition("\n")
    return says.strip(), " ".join(rest.split())


def _excerpt(program: Program, evidence: Sequence[Evidence]) -> Excerpt | None:
    modules = {module.file: module for module in program.modules}
    for proof in (e for e in evidence if e.component not in ("sampling", "environment") and e.file in modules):
        start = max(1, proof.line - _AROUND)
        lines = modules[proof.file].lines[start - 1 : proof.line + _AROUND]
        return Excerpt(file=proof.file, line=start, text="\n".join(line[:160] for line in lines).rstrip())
    return None
