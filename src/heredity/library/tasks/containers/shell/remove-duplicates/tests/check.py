"""One file of each content is left, and what was removed is listed."""

from pathlib import Path

root = Path("/app/docs")
kept, removed = [
    {"a.txt": "one\n", "b.txt": "two\n", "empty1": "", "only.txt": "four\n", "sub/a.txt": "three\n"},
    ["c.txt", "empty2", "sub/deep/q.txt", "sub/z.txt", "with space.txt"],
]
assert {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()} == kept
assert Path("/app/removed.txt").read_text().splitlines() == removed
