from __future__ import annotations

import pytest

from heredity._core.spans import Span, collecting, span
from heredity.analysis.otlp import UNENDED, Node, problem_of, selected, span_tree, totals
from heredity.models import Usage

S = 1_000_000_000


def made(name: str, at: float, until: float, parent: str = "", kind: str = "other", **attributes: object) -> Span:
    return Span(name, kind, "t", name, parent, int(at * S), int(until * S), dict(attributes))


def used(tokens: int | None) -> dict[str, object]:
    return {"input_tokens": tokens, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.5}


def shape(node: Node) -> object:
    return {node.span.name: [shape(child) for child in node.children]}


def test_children_are_inside_of_their_parents_in_the_order_in_which_they_began() -> None:
    spans = [made("c", 3, 4, "a"), made("b", 1, 2, "a"), made("d", 1.2, 1.4, "b"), made("a", 0, 5), made("z", 6, 7)]
    assert [shape(root) for root in span_tree(spans)] == [{"a": [{"b": [{"d": []}]}, {"c": []}]}, {"z": []}]


def test_what_collects_spans_gives_a_tree() -> None:
    spans: list[Span] = []
    with collecting(spans.append), span("run"), span("round"):
        for _ in range(2):
            with span("rollout"):
                pass
    assert [shape(root) for root in span_tree(spans)] == [{"run": [{"round": [{"rollout": []}, {"rollout": []}]}]}]


def test_own_time_is_what_no_child_covers_also_when_children_overlap() -> None:
    (root,) = span_tree([made("a", 0, 10), made("b", 1, 4, "a"), made("c", 2, 6, "a"), made("d", 8, 12, "a")])
    assert root.seconds == 10
    assert root.self_seconds == pytest.approx(1 + 2)


def test_spans_whose_parent_never_ended_stay_together() -> None:
    roots = span_tree([made("b", 1, 2, "gone"), made("c", 3, 4, "gone"), made("x", 0, 9)])
    assert [shape(root) for root in roots] == [{"x": []}, {UNENDED: [{"b": []}, {"c": []}]}]
    assert (roots[1].seconds, roots[1].self_seconds) == (3, 1)


def test_totals_count_nested_spans_of_a_kind_once_and_keep_the_unknown_unknown() -> None:
    spans = [
        made("run", 0, 10, kind="run"),
        made("outer", 0, 8, "run", kind="round"),
        made("inner", 1, 3, "outer", kind="round"),
        made("m1", 1, 2, "inner", kind="model", usage=used(10)),
        made("m2", 2, 3, "inner", kind="model", usage=used(None)),
        made("m3", 9, 10, "run", kind="model", usage=used(5)),
    ]
    by_kind = totals(span_tree(spans))
    assert list(by_kind) == ["run", "round", "model"]
    assert (by_kind["round"].count, by_kind["round"].seconds, by_kind["round"].self_seconds) == (2, 8, 6)
    assert by_kind["round"].usage == Usage(None, 2, 0, 1.0)
    assert by_kind["model"].usage == by_kind["run"].usage == Usage(None, 3, 0, 1.5)
    assert by_kind["model"].to_json()["usage"]["input_tokens"] is None


def test_what_went_wrong_is_found_wherever_a_step_says_it() -> None:
    assert problem_of(made("a", 0, 1, status="ok", error="")) == ""
    assert problem_of(made("a", 0, 1, status="rollout_timeout")) == "rollout_timeout"
    assert problem_of(made("a", 0, 1, error="timeout", message="too slow")) == "timeout: too slow"
    assert problem_of(Span("a", "tool", "t", "a", "", 0, 1, {}, "HostError: gone")) == "HostError: gone"


def test_spans_are_selected_by_kind_attempt_and_duration() -> None:
    roots = span_tree(
        [
            made("run", 0, 10, kind="run"),
            made("a1", 0, 3, "run", kind="rollout", task="train/1"),
            made("a2", 3, 9, "run", kind="rollout", task="train/2"),
            made("m1", 0, 1, "a1", kind="model"),
            made("m2", 3, 8, "a2", kind="model"),
        ]
    )
    assert [n.span.name for n in selected(roots, ("model",))] == ["m1", "m2"]
    assert [n.span.name for n in selected(roots, rollout="train/1")] == ["a1", "m1"]
    assert [n.span.name for n in selected(roots, ("model", "rollout"), slowest=2)] == ["a2", "m2"]


def test_a_deep_trace_does_not_overflow() -> None:
    spans = [made(str(i), i, 5000 - i, str(i - 1) if i else "", kind="round") for i in range(2000)]
    (root,) = span_tree(spans)
    assert max(depth for depth, _ in root.walk()) == 1999
    assert totals([root])["round"].count == 2000
