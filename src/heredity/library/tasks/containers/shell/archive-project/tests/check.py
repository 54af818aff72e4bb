"""The archive has the right files, the manifest describes them, and the folder is gone."""

import hashlib
import tarfile
from pathlib import Path

expected = {
    "project/.config": "hidden\n",
    "project/docs/with space.md": "# A\n",
    "project/lib/a.h": "#pragma once\n",
    "project/lib/tmp/keep.txt": "kept\n",
    "project/main.c": "int main(void) { return 0; }\n",
}
with tarfile.open("/app/project.tar.gz", "r:gz") as archive:
    found = {member.name.removeprefix("./"): archive.extractfile(member).read() for member in archive if member.isreg()}
assert found == {name: text.encode() for name, text in expected.items()}, sorted(found)
lines = [f"{hashlib.sha256(expected[name].encode()).hexdigest()}  {name}" for name in sorted(expected)]
assert Path("/app/manifest.txt").read_text().splitlines() == lines
assert not Path("/app/project").exists()
