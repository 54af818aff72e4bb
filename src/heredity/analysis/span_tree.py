"""A run's spans as a tree, with durations and usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heredity._core.spans import Span
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED

UNENDED = "not ended"
"""Name of the stand-in for a span with only its children recorded: it was still running, or its process was killed."""


@dataclass(slots=True, eq=False)
class Node:
    """A span and the spans inside it, by start."""

    span: Span
    children: list[Node] = field(default_factory=list["Node"])

    @property
    def seconds(self) -> float:
        """Wall time from its start to its end."""
        return (self.span.end_ns - self.span.start_ns) / 1e9

    @property
    def self_seconds(self) -> float:
        """Wall time without any running child; children may overlap."""
        covered, until = 0, self.span.start_ns
        for child in self.children:
            end = min(child.span.end_ns, self.span.end_ns)
            if end > until:
                covered += end - max(child.span.start_ns, until)
                until = end
        return (self.span.end_ns - self.span.start_ns - covered) / 1e9

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Node]]:
        """Yield the node and its descendants, each before its children, with its depth."""
        waiting = [(depth, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            waiting += [(level + 1, child) for child in reversed(node.children)]


@dataclass(frozen=True, slots=True)
class Total:
    """Totals of all spans of a kind.

    Attributes:
        count: number of spans.
        problems: number of spans with a problem.
        seconds: wall time, summed over spans not inside another of the kind; may exceed that of the run, since spans
            run concurrently.
        self_seconds: the part of it not spent inside their children.
        usage: usage of the model calls inside them; unknown if any is unknown.
    """

    count: int = 0
    problems: int = 0
    seconds: float = 0.0
    self_seconds: float = 0.0
    usage: Usage = NOTHING_USED

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; unknown is null."""
        return {**asdict(self), "usage": self.usage.to_json()}


def span_tree(spans: Iterable[Span]) -> list[Node]:
    """Return the topmost spans, by start, with the others inside them.

    Spans with a missing parent are grouped under one named `UNENDED`.
    """
    nodes = {span.span_id: Node(span) for span in spans}
    for node in list(nodes.values()):
        parent = node.span.parent_id
        if parent and parent not in nodes:
            nodes[parent] = Node(Span(UNENDED, "other", node.span.trace_id, parent, "", 0))
    roots: list[Node] = []
    for node in nodes.values():
        (nodes[node.span.parent_id].children if node.span.parent_id else roots).append(node)
    for node in nodes.values():
        node.children.sort(key=lambda child: child.span.start_ns)
        if node.span.name == UNENDED and node.children:
            node.span.start_ns = node.children[0].span.start_ns
            node.span.end_ns = max(child.span.end_ns for child in node.children)
    return sorted(roots, key=lambda node: node.span.start_ns)


def totals(roots: Sequence[Node]) -> dict[str, Total]:
    """Return the totals of each kind of span, in order of first occurrence."""
    by_kind: dict[str, Total] = {}

    def add(node: Node, outer: tuple[str, ...]) -> tuple[str, ...]:
        kind = node.span.kind
        before = by_kind.get(kind, Total())
        fresh = kind not in outer
        by_kind[kind] = replace(
            before,
            count=before.count + 1,
            problems=before.problems + bool(problem_of(node.span)),
            seconds=before.seconds + node.seconds * fresh,
            self_seconds=before.self_seconds + node.self_seconds,
        )
        inside = (*outer, kind) if fresh else outer
        if kind == "model":
            used = usage_of(node.span)
            for enclosing in inside:
                by_kind[enclosing] = replace(by_kind[enclosing], usage=by_kind[enclosing].usage + used)
        return inside

    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ()) for root in reversed(roots)]
    while waiting:
        node, outer = waiting.pop()
        inside = add(node, outer)
        waiting += [(child, inside) for child in reversed(node.children)]
    return by_kind


def problem_of(span: Span) -> str:
    """Return the problem of a span in one line; `""` if it has none."""
    attributes = span.attributes
    if span.error:
        return span.error
    if attributes.get("error") or attributes.get("failed"):
        return ": ".join(
            str(attributes[key]) for key in ("error", "failed", "failure", "message") if attributes.get(key)
        )
    return "" if attributes.get("status", "ok") in ("ok", "finished") else str(attributes["status"])


def usage_of(span: Span) -> Usage:
    """Return the usage of a model call; unknown if it is not recorded."""
    usage = span.attributes.get("usage")
    names = Usage.__dataclass_fields__
    return Usage(**{name: usage.get(name) for name in names}) if isinstance(usage, Mapping) else Usage()


def selected(
    roots: Sequence[Node], kinds: Sequence[str] = (), rollout: str = "", slowest: int | None = None
) -> list[Node]:
    """Return the selected spans.

    Args:
        roots: a whole tree.
        kinds: only these kinds; empty for all.
        rollout: only spans inside rollouts of this task, such as `"train/3"`; `""` for all.
        slowest: number of spans, longest first; None for all spans by start.
    """
    within = [node for root in roots for _, node in root.walk()]
    if rollout:
        rollouts = [n for n in within if n.span.kind == "rollout" and n.span.attributes.get("task") == rollout]
        within = [node for top in rollouts for _, node in top.walk()]
    chosen = [node for node in within if not kinds or node.span.kind in kinds]
    if slowest is None:
        return chosen
    return sorted(chosen, key=lambda node: -node.seconds)[:slowest]
