"""Rows are merged where they must be, and nowhere else."""

import json
from pathlib import Path

assert json.loads(Path("/app/people.json").read_text()) == [
    {"names": ["Ana Lind", "A. Lind"], "emails": ["ana@example.org"], "phones": ["+43155501"]},
    {"names": ["Ben Roth", "B. Roth", "Cy"], "emails": ["ben@roth.example"], "phones": ["+49307"]},
    {"names": ["Dee Moss"], "emails": ["dee@moss.example"], "phones": ["+12"]},
    {"names": ["Eve"], "emails": [], "phones": []},
    {"names": ["Eve"], "emails": [], "phones": []},
]
