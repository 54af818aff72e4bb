"""The table has the expected rows in the expected order."""

import csv
from pathlib import Path

expected = [
    ["id", "note", "ok", "size.h.cm", "size.w", "user.name", "user.tags"],
    ["1", "", "true", "", "", "ana", "x|y"],
    ["2", "", "false", "", "", "ben", ""],
    ["3", "", "", "2", "1.5", "c;d", ""],
    ["4", "", "true", "", "", "", "only"],
]
with Path("/app/events.csv").open(newline="", encoding="utf-8") as file:
    assert list(csv.reader(file)) == expected
