"""The training route of a revision of an agent's code, with evidence, settings and an excerpt (Agent² RL-Bench, table 11)."""

from __future__ import annotations

import ast
import io
import math
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from heredity._core.errors import RecordError
from heredity._core.outside import json_value
from heredity.protocols.post_training.analysis.objectives import called, objectives
from heredity.protocols.post_training.analysis.program import Program
from heredity.protocols.post_training.results import Evidence, Excerpt

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
