"""The merged settings are right, and of the right types."""

import json
from pathlib import Path

expected = {
    "server": {"port": 8080, "host": "example.org", "debug": True, "workers": -1},
    "paths": {"root": "/srv/%d", "new": "a = b"},
    "mail": {"version": "1.50"},
}
found = json.loads(Path("/app/settings.json").read_text())
assert found == expected, found
assert found["server"]["debug"] is True
