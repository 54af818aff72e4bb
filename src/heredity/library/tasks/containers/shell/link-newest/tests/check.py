"""Each link is relative, and leads to the newest version."""

import os
from pathlib import Path

current = Path("/app/current")
expected = {"codec": "10.0.0", "engine": "0.10.1", "parser": "1.10.0", "viewer": "2.0.0"}
assert sorted(os.listdir(current)) == sorted(expected)
for name, version in expected.items():
    link = current / name
    assert link.is_symlink()
    assert not os.readlink(link).startswith("/")
    assert (link / "VERSION").read_text() == version + "\n"
    assert link.resolve() == Path(f"/app/packages/{name}-{version}")
assert len(os.listdir("/app/packages")) == 10
