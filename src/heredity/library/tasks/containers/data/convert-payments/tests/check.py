"""The sums are right to the cent, and the months in order."""

import json
from pathlib import Path

expected = {"2024-01": "115988.07", "2024-02": "109403.80", "2024-03": "85577.80"}
found = json.loads(Path("/app/months.json").read_text())
assert found == expected, found
assert list(found) == sorted(expected)
