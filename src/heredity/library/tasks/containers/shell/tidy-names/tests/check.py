"""Every file has its tidy name and its own content."""

from pathlib import Path

expected = {
    "already-fine.csv": "content of 3\n",
    "annual-report-2.txt": "content of 5\n",
    "annual-report-3.txt": "content of 1\n",
    "annual-report.txt": "content of 0\n",
    "ber-alles.log": "content of 4\n",
    "my-notes-final.md": "content of 2\n",
    "odd-name.txt": "content of 7\n",
    "x-y.z": "content of 6\n",
}
assert {path.name: path.read_text() for path in Path("/app/inbox").iterdir()} == expected
