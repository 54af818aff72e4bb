"""Published tables of papers: every row is whole, and they are shown beside results on their tasksets only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from heredity.protocols.shared.published import published_section, published_tables
from heredity.results.page import Table, Text

PACKAGES = [
    f"heredity.protocols.{name}" for name in ("policy_evolution", "agent_learning", "post_training", "team_questions")
]


def sections(package: str, taskset: str) -> list[Any]:
    run: Any = SimpleNamespace(taskset=taskset)
    return list(published_section(package, [run]))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_row_has_a_figure_for_each_column(package: str) -> None:
    for table in published_tables(package):
        assert table.rows
        assert table.tasksets
        assert all(len(row.values) == len(table.columns) for row in table.rows), table.source


def test_a_table_is_shown_labelled_as_published_for_its_tasksets_alone() -> None:
    ((section),) = sections(PACKAGES[0], "gymnasium/Ant-v5")
    text, table = section.parts
    assert section.title == "As published"
    assert isinstance(text, Text)
    assert "As published (EvoPolicyGym, table 1)" in str(text)
    assert isinstance(table, Table)
    assert len(table.rows) == 16
    assert sections(PACKAGES[0], "gymnasium/CartPole-v1") == []
    assert sections(PACKAGES[1], "worlds/six") == []
    assert len(sections(PACKAGES[3], "questions/gaia?whole=true")[0].parts) == 4
