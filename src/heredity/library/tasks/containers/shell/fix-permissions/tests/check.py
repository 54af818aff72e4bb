"""Modes follow the rules, and contents are what they were."""

from pathlib import Path

root = Path("/app/site")
expected = {
    "bin": "755",
    "bin/readme.sh": "644",
    "bin/run": "755",
    "data": "755",
    "data/list.csv": "644",
    "data/script.txt": "755",
    "index.html": "644",
    "private": "700",
    "private/deep": "700",
    "private/deep/more": "600",
    "private/key": "600",
    "private/tool": "600",
}
found = {
    str(path.relative_to(root)): oct(path.stat().st_mode & 0o7777)[2:]
    for path in root.rglob("*")
    if not path.is_symlink()
}
assert found == expected, found
assert (root / "link").is_symlink()
assert oct(Path("/app/outside.txt").stat().st_mode)[-3:] == "640"
assert (root / "bin/run").read_text() == "#!/bin/sh\necho run\n"
