from __future__ import annotations

from heredity.analysis.run_results import MOST_LINES, changes
from heredity.resources import Candidate, SourceTree


def made(**parts: dict[str, bytes | str]) -> Candidate:
    return Candidate({name.replace("_", "/"): SourceTree(files) for name, files in parts.items()})


def test_equal_candidates_have_no_changes() -> None:
    assert changes(made(prompt_a={"prompt.md": "x"}), made(prompt_a={"prompt.md": "x"})) == []


def test_files_and_parts_that_come_go_or_change_are_listed_with_their_diff() -> None:
    before = made(prompt_a={"prompt.md": "one\ntwo\n"}, tool_old={"tool.py": "x = 1\n"})
    after = made(prompt_a={"prompt.md": "one\n2\nthree\n"}, tool_new={"tool.py": "y = 1\n", "data.bin": b"\xff\x00"})
    by_file = {(c.part, c.file): c for c in changes(before, after)}
    assert list(by_file) == [
        ("prompt/a", "prompt.md"),
        ("tool/new", "data.bin"),
        ("tool/new", "tool.py"),
        ("tool/old", "tool.py"),
    ]
    changed = by_file["prompt/a", "prompt.md"]
    assert (changed.status, changed.added, changed.removed) == ("changed", 2, 1)
    assert changed.diff.splitlines()[1:] == [" one", "-two", "+2", "+three"]
    assert by_file["tool/old", "tool.py"].status == "removed"
    assert by_file["tool/new", "tool.py"].diff.splitlines()[1:] == ["+y = 1"]
    assert by_file["tool/new", "data.bin"].diff is None


def test_long_diffs_are_cut_and_still_counted() -> None:
    (change,) = changes(made(agent={"a.txt": ""}), made(agent={"a.txt": "x" * 5000 + "\n" + "y\n" * 1000}))
    assert change.added == 1001
    lines = change.diff.splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"… {1002 - MOST_LINES} more lines"
    assert max(map(len, lines)) < 3000
