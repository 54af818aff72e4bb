"""The training route of a revision of an agent's code, its operating mode, and the audit of its workspace.

Routes come with evidence, settings and an excerpt (Agent² RL-Bench, table 11; section 3.4 and appendix A.19 for the audit).
A *breach* breaks the mode, or uses something forbidden to agents. A *look* may be harmless.
"""

from __future__ import annotations

import ast
import io
import math
import re
import shlex
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeGuard

from heredity._core.errors import RecordError
from heredity._core.outside import json_value
from heredity.protocols.post_training.analysis.program import Program, Unit
from heredity.protocols.post_training.results import Audit, AuditVerdict, Evidence, Excerpt, Finding, Grade

_MOST_NODES = 20_000


@dataclass(slots=True)
class Slice:
    """The inputs of a value.

    Attributes:
        names: every name, attribute, keyword and key in it, in lower case.
        calls: calls, each with its unit of code.
        nodes: every visited expression, with its unit of code.
    """

    names: set[str] = field(default_factory=set[str])
    calls: list[tuple[Unit, ast.Call]] = field(default_factory=list["tuple[Unit, ast.Call]"])
    nodes: list[tuple[Unit, ast.AST]] = field(default_factory=list["tuple[Unit, ast.AST]"])


class Slicer:
    """Follows values backwards through the reachable code of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._assigned: dict[int, dict[str, list[ast.expr]]] = {}
        self._reached = {id(unit.node): unit for unit in program.units if unit.node is not None}

    def of(self, unit: Unit, *values: ast.expr) -> Slice:
        """Return the inputs of values in a unit."""
        flow = Slice()
        seen: set[tuple[int, str]] = set()
        functions: set[int] = set()
        stack = [(unit, value) for value in values]
        while stack and len(flow.nodes) < _MOST_NODES:
            where, value = stack.pop()
            for node in ast.walk(value):
                flow.nodes.append((where, node))
                if isinstance(node, ast.Name) and (id(where), node.id) not in seen:
                    seen.add((id(where), node.id))
                    stack += [(where, assigned) for assigned in self._assignments(where).get(node.id, ())]
                elif isinstance(node, ast.Call):
                    flow.calls.append((where, node))
                    stack += self._returned(where, node, functions)
                flow.names.update(name.lower() for name in names_of(node))
        return flow

    def _returned(self, unit: Unit, call: ast.Call, functions: set[int]) -> Iterator[tuple[Unit, ast.expr]]:
        for _, definition in self._program.definitions(unit.module, call.func):
            body = self._reached.get(id(definition))
            if body is None or id(definition) in functions or isinstance(definition, ast.ClassDef):
                continue
            functions.add(id(definition))
            yield from ((body, n.value) for n in body.live if isinstance(n, ast.Return) and n.value is not None)

    def _assignments(self, unit: Unit) -> dict[str, list[ast.expr]]:
        key = id(unit)
        if key not in self._assigned:
            self._assigned[key] = {}
            for node in unit.live:
                for target, value in _bindings(node):
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self._assigned[key].setdefault(name.id, []).append(value)
        return self._assigned[key]


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AugAssign | ast.NamedExpr) or (isinstance(node, ast.AnnAssign) and node.value):
        yield node.target, node.value  # pyright: ignore[reportReturnType]
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend", "add")
        and isinstance(node.func.value, ast.Name)
    ):
        yield from ((node.func.value, argument) for argument in node.args)


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node: of a variable, an attribute, a keyword, or a string key."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield node.slice.value


TRAINERS = {
    **dict.fromkeys(("SFTTrainer", "GKDTrainer", "Trainer", "Seq2SeqTrainer"), "SFT"),
    "GRPOTrainer": "GRPO",
    **dict.fromkeys(("PPOTrainer", "PPOv2Trainer"), "PPO"),
    **dict.fromkeys(
        ("DPOTrainer", "ORPOTrainer", "KTOTrainer", "CPOTrainer", "OnlineDPOTrainer", "NashMDTrainer", "XPOTrainer"),
        "DPO",
    ),
    **dict.fromkeys(("RLOOTrainer", "ReinforceTrainer"), "RL"),
}
"""Trainers of trl and transformers to their objectives; all preference objectives are called DPO."""

COMMANDS = {"sft": "SFT", "grpo": "GRPO", "ppo": "PPO", "dpo": "DPO", "kto": "DPO", "orpo": "DPO", "rloo": "RL"}
"""Objective of the command `trl NAME`."""

_LIBRARIES = ("trl", "transformers", "unsloth")
_REWARD = re.compile(r"reward|advantage|^advs?$|^gae$|^returns$|td_error")
_LOGPROB = re.compile(r"log_?p(rob)?s?(_|$|\d)|log_?prob|log_softmax|ratio|selective_log|^nll")
_CRITIC = re.compile(r"critic|value_(loss|head|pred)|^v_?f_|^v_loss|(new|old|pred)_values?|pred_value")
_LIKELIHOOD = re.compile(r"cross_?entropy|nll_?loss|^labels$")
_MEAN, _SPREAD = re.compile(r"mean|avg|^mu$"), re.compile(r"std|deviation|sigma|^sd$|var$")
_SAMPLING = frozenset({"generate", "multinomial", "Categorical"})
_STEPPERS = re.compile(r"opt|sched|scaler|accelerator|engine|lr|warm|profil|bar")


def objectives(program: Program, files: Mapping[str, bytes]) -> list[Evidence]:
    """Return the objectives of code, in the order of files and lines.

    Args:
        program: its Python.
        files: all its files; shell scripts among them are read for commands.
    """
    evidence = [*_trainers(program), *_loops(program), *_commands(program, files), *_behaviour(program)]
    return sorted(dict.fromkeys(evidence), key=lambda e: (e.file, e.line, e.component))


def _evidence(component: str, unit: Unit, node: ast.AST, why: str) -> Evidence:
    line, text = getattr(node, "lineno", 1), unit.module.line(node)[:160]
    return Evidence(component=component, file=unit.module.file, line=line, text=text, why=why)


def _live_calls(program: Program) -> Iterator[tuple[Unit, ast.Call]]:
    for unit in program.units:
        for node in unit.live:
            if isinstance(node, ast.Call):
                yield unit, node


def called(call: ast.Call) -> str:
    """Return the last part of the called name; `""` if it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


# --- trainers of libraries


def _trainers(program: Program) -> Iterator[Evidence]:
    slicer = Slicer(program)
    started = set(_started(program, slicer))
    for unit, call in _live_calls(program):
        for dotted in _callees(program, slicer, unit, call):
            component, name = _trainer(program, unit, dotted)
            if component and (id(call) in started or "" in started):
                yield _evidence(component, unit, call, f"{name} is constructed and its train() is called")


def _callees(program: Program, slicer: Slicer, unit: Unit, call: ast.Call) -> list[str]:
    """Return the possible callees: the name, or every name that flows into the called expression, such as from a table."""
    if isinstance(call.func, ast.Name | ast.Attribute):
        dotted = program.resolve(unit.module, call.func)
        if dotted or not (isinstance(call.func, ast.Name) and unit.module.bound[call.func.id]):
            return [dotted]
    names = [(u, n) for u, n in slicer.of(unit, call.func).nodes if isinstance(n, ast.Name | ast.Attribute)]
    return list(dict.fromkeys(program.resolve(u.module, n) for u, n in names))


def _trainer(program: Program, unit: Unit, dotted: str) -> tuple[str, str]:
    """Return a class's objective and the trainer it is or derives from; `_loops` handles classes with a custom loss."""
    for base in (dotted, *program.bases(unit.module, dotted)):
        package, _, name = base.rpartition(".")
        if package.partition(".")[0] in _LIBRARIES and name in TRAINERS:
            own = base != dotted and any(u.node is not None and _is_loss(u) for u in program.units)
            return ("", "") if own else (TRAINERS[name], name)
    return "", ""


def _started(program: Program, slicer: Slicer) -> Iterator[object]:
    """Yield the calls that construct a trained object; `""` if its construction cannot be traced."""
    for unit, call in _live_calls(program):
        if called(call) == "train" and isinstance(call.func, ast.Attribute):
            made = slicer.of(unit, call.func.value)
            yield from (id(maker) for _, maker in made.calls)
            attribute = isinstance(call.func.value, ast.Attribute)
            parameter = isinstance(call.func.value, ast.Name) and _is_parameter(unit, call.func.value.id)
            if attribute or (parameter and "trainer" in ast.unparse(call.func.value).lower()):
                yield ""


def _is_parameter(unit: Unit, name: str) -> bool:
    node = unit.node
    return not isinstance(node, ast.ClassDef | None) and any(
        a.arg == name for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    )


# --- custom loops


@dataclass(frozen=True, slots=True)
class _Loss:
    unit: Unit
    node: ast.AST
    made: Slice

    def has(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(name) for name in self.made.names)

    @property
    def preference(self) -> bool:
        """Return True if two answers are compared through a sigmoid (Rafailov et al. 2023, equation 7)."""
        squashed = bool({"logsigmoid", "softplus", "sigmoid"} & self.made.names)
        pairs = (("chosen", "reject"), ("win", "los"), ("prefer", "dispref"), ("better", "worse"))
        return squashed and any(all(any(p in name for name in self.made.names) for p in pair) for pair in pairs)

    @property
    def models_own(self) -> bool:
        """Return True for the attribute `loss` of a returned object: for a language model, the likelihood of its labels."""
        return any(isinstance(node, ast.Attribute) and node.attr == "loss" for _, node in self.made.nodes)

    @property
    def clipped(self) -> bool:
        """Return True if a ratio is clipped around 1 (Schulman et al. 2017, equation 7)."""
        return any(
            called(call) in ("clamp", "clip") and len(call.args) + len(call.keywords) >= 2 and _around_one(call)
            for _, call in self.made.calls
        )


def _around_one(call: ast.Call) -> bool:
    bounds = [*call.args, *(keyword.value for keyword in call.keywords)][-2:]
    signs = {type(b.op) for b in bounds if isinstance(b, ast.BinOp) and getattr(b.left, "value", None) in (1, 1.0)}
    values = [b.value for b in bounds if isinstance(b, ast.Constant) and isinstance(b.value, int | float)]
    return signs == {ast.Sub, ast.Add} or (len(values) == 2 and values[0] < 1 < values[1])


def _is_loss(unit: Unit) -> bool:
    return getattr(unit.node, "name", "") == "compute_loss"


def _losses(program: Program) -> Iterator[_Loss]:
    slicer = Slicer(program)
    for unit in program.units:
        for node in unit.live:
            if isinstance(node, ast.Call) and called(node) == "backward" and isinstance(node.func, ast.Attribute):
                # accelerator.backward(loss) has the loss as its argument, loss.backward() as its receiver.
                yield _Loss(unit, node, slicer.of(unit, *(node.args or [node.func.value])))
            elif isinstance(node, ast.Return) and node.value is not None and _is_loss(unit):
                yield _Loss(unit, node, slicer.of(unit, node.value))


def _loops(program: Program) -> Iterator[Evidence]:
    losses = list(_losses(program))
    steps = any(called(call) == "step" and _steps_optimizer(call) for _, call in _live_calls(program))
    if not losses or not (steps or any(isinstance(loss.node, ast.Return) for loss in losses)):
        return
    sampled = next((e for e in _behaviour(program) if e.component == "sampling"), None)
    relative = next(_group_relative(program), None)
    critic = any(loss.has(_CRITIC) for loss in losses)
    for loss in losses:
        if loss.preference:
            yield _evidence("DPO", loss.unit, loss.node, "the loss compares a chosen answer with a rejected one")
        elif loss.has(_REWARD) and loss.has(_LOGPROB) and sampled:
            yield from _policy_gradient(loss, critic, relative)
        elif loss.has(_LIKELIHOOD) or loss.has(_LOGPROB) or loss.models_own:
            yield _evidence("SFT", loss.unit, loss.node, "the loss is the likelihood of given answers")
        elif not loss.has(_CRITIC):
            yield _evidence("training", loss.unit, loss.node, "an unrecognised loss is minimised")


def _policy_gradient(loss: _Loss, critic: bool, relative: Evidence | None) -> Iterator[Evidence]:
    """Classify policy gradients: PPO with a critic, GRPO relative to a group, clipped PPO, or another one."""
    if critic and loss.clipped:
        yield _evidence("PPO", loss.unit, loss.node, "sampled answers, a clipped ratio and a critic")
    elif relative is not None:
        yield _evidence("GRPO", loss.unit, loss.node, "sampled answers weighted by advantages within their group")
        yield relative
    elif loss.clipped:
        yield _evidence("PPO", loss.unit, loss.node, "sampled answers weighted by rewards, with a clipped ratio")
    else:
        yield _evidence("RL", loss.unit, loss.node, "sampled answers weighted by rewards")


def _group_relative(program: Program) -> Iterator[Evidence]:
    """Yield lines that subtract a group's mean from a reward (Shao et al. 2024, section 4.1)."""
    for unit in program.units:
        for node in unit.live:
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Sub)):
                continue
            gap = node.left if isinstance(node.op, ast.Div) else node
            if not (isinstance(gap, ast.BinOp) and isinstance(gap.op, ast.Sub)):
                continue
            own = _all_names(gap.left)
            scaled = isinstance(node.op, ast.Div) and _any(_SPREAD, _all_names(node.right))
            grouped = any("group" in name or name in ("dim", "axis") for name in _all_names(gap))
            if _any(_MEAN, _all_names(gap.right)) and _any(re.compile("reward|score|^r$"), own) and (scaled or grouped):
                yield _evidence("GRPO", unit, node, "a reward minus the mean of its group")


def _all_names(node: ast.AST) -> set[str]:
    return {name.lower() for child in ast.walk(node) for name in names_of(child)}


def _any(pattern: re.Pattern[str], names: Iterable[str]) -> bool:
    return any(pattern.search(name) for name in names)


def _steps_optimizer(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and (not call.args or bool(_STEPPERS.search(_receiver(call))))


def _receiver(call: ast.Call) -> str:
    return ast.unparse(call.func.value).lower() if isinstance(call.func, ast.Attribute) else ""


# --- other behaviour of the code


def _behaviour(program: Program) -> Iterator[Evidence]:
    for unit, call in _live_calls(program):
        name = called(call)
        if name in _SAMPLING:
            yield _evidence("sampling", unit, call, "the model writes answers")
        elif name == "step" and call.args and not _STEPPERS.search(_receiver(call)):
            yield _evidence("environment", unit, call, "an environment is stepped")


def _commands(program: Program, files: Mapping[str, bytes]) -> Iterator[Evidence]:
    """Read commands such as `trl grpo …` from shell scripts, and from argument lists of processes."""
    for file in sorted(name for name in files if name.endswith(".sh")):
        for number, line in enumerate(files[file].decode("utf-8", "replace").splitlines(), 1):
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                continue
            component = _command(words)
            if component:
                text, why = line.strip()[:160], "a training command of trl"
                yield Evidence(component=component, file=file, line=number, text=text, why=why)
    for unit, call in _live_calls(program):
        if program.resolve(unit.module, call.func).startswith(("subprocess.", "os.system")):
            words = [str(n.value) for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            component = _command([part for word in words for part in word.split()])
            if component:
                yield _evidence(component, unit, call, "a training command of trl")


def _command(words: list[str]) -> str:
    for before, name in pairwise(words):
        if before in ("trl", "trl.cli") and name in COMMANDS:
            return COMMANDS[name]
    return ""


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
