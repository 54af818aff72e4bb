"""SKILL.md: front matter as it is published, what is written read back, and hostile YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.resources.contracts import MAX_FRONT_MATTER, Contract, read_contract

PUBLISHED = """---
name: pdf
description: |-
  Reads forms: fields, tables.
    Use it for "PDF" files.
license: 'Proprietary. LICENSE.txt has complete terms'
allowed-tools:
  - Bash(git add:*)
  - Read
compatibility: >
  needs python
  and pypdf
metadata: {version: 1.10, released: 2026-01-02, stable: yes, tags: [forms, "a, b"]}
user-invocable: false
---

# PDF

---
"""


def read(front: str) -> Contract:
    return read_contract(f"---\n{front}\n---\n", where="SKILL.md")


def test_a_published_skill_loads_with_every_key_as_it_is_written() -> None:
    contract = read_contract(PUBLISHED, where="SKILL.md")
    assert contract.description == 'Reads forms: fields, tables.\n  Use it for "PDF" files.'
    assert contract.text == "# PDF\n\n---"
    assert contract.extra == {
        "license": "Proprietary. LICENSE.txt has complete terms",
        "allowed-tools": ["Bash(git add:*)", "Read"],
        "compatibility": "needs python and pypdf\n",
        "metadata": {"version": "1.10", "released": "2026-01-02", "stable": "yes", "tags": ["forms", "a, b"]},
        "user-invocable": "false",
    }
    assert read_contract(str(contract), where="again") == contract


_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_VALUE = st.recursive(
    _TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=6
)


@given(
    description=_TEXT.filter(lambda text: 0 < len(text.strip()) <= len(text) <= 1024),
    extra=st.fixed_dictionaries({}, optional={"license": _VALUE, "metadata": _VALUE, "allowed-tools": _VALUE}),
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")).map(str.strip),
)
def test_what_is_written_reads_back_as_what_it_was(description: str, extra: dict[str, object], text: str) -> None:
    contract = Contract("a-tool", description, extra, text)
    assert read_contract(str(contract), where="SKILL.md") == contract


def test_a_colon_in_a_plain_description_is_read_as_text() -> None:
    assert read("name: add\ndescription: Adds: two numbers\nlicense: MIT").description == "Adds: two numbers"


@pytest.mark.parametrize(
    ("front", "message"),
    [
        (
            "name: add\ndescription: x\nmetadata: {a: &a [x], b: [*a, *a]}",
            "metadata, a, line 4: the alias a .*write the value out",
        ),
        (
            "name: add\ndescription: x\nlicense: !!python/object/apply:os.system [ls]",
            "license, line 4: the tag .*os.system",
        ),
        ("name: add\ndescription: x\nmetadata: " + "[" * 5000, "more than 8 lists and mappings deep"),
        ("name: add\ndescription: x\nlicense: " + "y" * MAX_FRONT_MATTER, "at most 65536"),
        ("name: add\ndescription: x\nname: sub", "'name' twice"),
        ("name: [add]\ndescription: x", "name = .'add'.; expected a text"),
        ("name: add\ndescription: x\n? [a]\n: b", "a key = .'a'.; expected a text"),
        ("- name", "expected lines such as name"),
        ('name: add\ndescription: "x', "line 3: not YAML .*double quotes"),
    ],
)
def test_hostile_or_broken_front_matter_is_refused_with_its_place(front: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(front)


def test_a_key_that_is_a_slip_of_the_pen_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean license"):
        read("name: add\ndescription: x\nlicence: MIT")
