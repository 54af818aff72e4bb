from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.resources import Candidate, Manifest, Registry, SourceTree, Store
from heredity.resources.assembly import (
    candidate_from_folder,
    candidate_from_registry,
    changed_parts,
    draft_of,
    files_of,
    manifest_of,
    part_of,
    record_candidate,
    variables,
    with_variables,
)

TOOL = part_of(SourceTree({"tool.py": "def run(a):\n    return a\n"}), Manifest("adds", evolvable=False))
AGENT = Candidate({"prompt/system": SourceTree({"prompt.md": "Add.\n"}), "tool/adder": TOOL})


def test_a_part_is_taken_apart_into_files_and_manifest_and_put_together_again() -> None:
    assert manifest_of(TOOL).description == "adds"
    assert list(files_of(TOOL)) == ["tool.py"]
    assert part_of(files_of(TOOL), manifest_of(TOOL)) == TOOL
    assert part_of(SourceTree({"a": "b"}), Manifest()) == SourceTree({"a": "b"})


def test_only_what_may_change_is_a_variable() -> None:
    assert variables(AGENT) == {"prompt/system:prompt.md": "Add.\n"}
    with pytest.raises(ConfigError, match="not evolvable"):
        with_variables(AGENT, {"tool/adder:tool.py": "x = 1"})


def test_edits_replace_add_and_remove_files_and_leave_the_candidate_as_it_was() -> None:
    made = with_variables(AGENT, {"prompt/system:prompt.md": "Carry.\n", "memory/notes:memory.md": "ten"})
    assert made.parts["prompt/system"]["prompt.md"] == b"Carry.\n"
    assert changed_parts(AGENT, made) == ["memory/notes", "prompt/system"]
    assert with_variables(made, {"memory/notes:memory.md": None}).parts.keys() == AGENT.parts.keys()
    assert AGENT.parts["prompt/system"]["prompt.md"] == b"Add.\n"
    with pytest.raises(UnknownNameError, match=r"prompt\.txt"):
        with_variables(AGENT, {"prompt/system:prompt.txt": None})


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"prompt/system:prompt.md": "  "}, "empty"),
        ({"prompt/system": "x"}, "is not a variable"),
        ({"system:prompt.md": "x"}, "is not a variable"),
        ({"tool/other:tool.py": "def run(:\n"}, r"tool\.py of .*: line 1"),
        ({"song/x:a.md": "x"}, "type of resource"),
    ],
)
def test_what_does_not_load_never_replaces_what_does(edits: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        with_variables(AGENT, edits)


def test_a_candidate_comes_out_of_a_folder_and_out_of_a_registry(tmp_path: Path) -> None:
    (tmp_path / "a" / "prompt" / "system").mkdir(parents=True)
    (tmp_path / "a" / "prompt" / "system" / "prompt.md").write_text("Add.\n")
    assert candidate_from_folder(tmp_path / "a").parts == {"prompt/system": AGENT.parts["prompt/system"]}
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(ConfigError):
            candidate_from_folder(folder)
    with Store(tmp_path / "s.sqlite") as store:
        registry = Registry(store)
        registry.register("prompt", "system", "Add.\n")
        registry.update("prompt", "system", "Carry.\n")
        assert (
            candidate_from_registry(registry, {"prompt/system": "1.0.0"}).parts["prompt/system"]["prompt.md"]
            == b"Add.\n"
        )
        assert (
            candidate_from_registry(registry, {"prompt/system": None}).parts["prompt/system"]["prompt.md"]
            == b"Carry.\n"
        )


def test_recording_candidates_keeps_their_lineage_and_adds_nothing_that_is_there(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        first = record_candidate(store, AGENT, (), "the start")
        second = record_candidate(store, with_variables(AGENT, {"prompt/system:prompt.md": "B"}), [first], "an edit")
        third = record_candidate(store, with_variables(AGENT, {"prompt/system:prompt.md": "C"}), [first, second], "two")
        assert second["tool/adder"] == first["tool/adder"]
        assert second["prompt/system"].parents == (first["prompt/system"].digest,)
        assert third["prompt/system"].parents == (first["prompt/system"].digest, second["prompt/system"].digest)
        assert [str(v.number) for v in store.list("prompt", "system")] == ["1.0.0", "1.0.1", "1.0.2"]
        policy = record_candidate(store, Candidate.program(SourceTree({"policy.py": "x = 1"})), (), "a policy")
        assert policy["agent/policy"].label == "agent/policy@1.0.0"
    with pytest.raises(ConfigError, match="not a part of a candidate"):
        draft_of("agent", TOOL)
