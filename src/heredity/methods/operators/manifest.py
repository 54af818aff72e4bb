"""Manifests: the changes of an engineering update, their reasons, and the tasks they should fix (SEAGym, appendix C.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.methods.operators.improve import Edits, edits_in, one_line


@dataclass(frozen=True, slots=True)
class Manifest:
    """A reply of the form `engineer`.

    Attributes:
        values: variable to its new text; None removes it.
        reasons: variable to the reason for its change, one line each.
        fixes: train task indices expected to be solved from now on.
        risks: one line on possible regressions.
    """

    values: Mapping[str, str | None]
    reasons: Mapping[str, str]
    fixes: tuple[int, ...] = ()
    risks: str = ""

    @property
    def edits(self) -> Edits:
        """The edits, with the whole manifest on one line for the submission's note."""
        tasks = ", ".join(map(str, self.fixes)) or "none"
        expects = f"expected to fix tasks: {tasks}" + (f"; risks: {self.risks}" if self.risks else "")
        why = "; ".join(dict.fromkeys(filter(None, self.reasons.values())))
        return Edits(self.values, f"{why} [{expects}]".strip(), expects)


def manifest_in(unsolved: Collection[int], reply: Mapping[str, Any]) -> Manifest:
    """Read a reply of the form `engineer`; an empty list of edits leaves the harness unchanged.

    Args:
        unsolved: train task indices that can improve. Others are removed from `fixes`, so predictions cannot be
            trivially right.
        reply: the reply's object.

    Raises:
        ConfigError: if an edit or the list of tasks is malformed.
    """
    fixes: Any = reply.get("fixes") or []
    if not isinstance(fixes, list) or not all(type(task) is int for task in cast("list[Any]", fixes)):
        raise ConfigError(f'"fixes" is {fixes!r:.80}; expected a list of train tasks, as numbered in the evidence')
    expected = tuple(task for task in dict.fromkeys(cast("list[int]", fixes)) if task in unsolved)
    risks = one_line(reply.get("risks"))
    if reply.get("edits") == []:
        return Manifest({}, {}, expected, risks)
    values = edits_in(reply).values
    return Manifest(values, {edit["variable"]: one_line(edit.get("why")) for edit in reply["edits"]}, expected, risks)
