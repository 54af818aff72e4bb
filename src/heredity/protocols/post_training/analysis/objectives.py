"""Training objectives in the code of a revision, each with its evidence lines.

Two kinds of evidence count: a library trainer that is constructed *and* whose `train` is called; and a custom loop that calls
`backward` on a loss and `step` on an optimizer, where the values flowing into the loss identify it. Names in comments, unused
imports and functions that are never called do not count.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from heredity.protocols.post_training.analysis.program import Program, Unit
from heredity.protocols.post_training.results import Evidence

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
