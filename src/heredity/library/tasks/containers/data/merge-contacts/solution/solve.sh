#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import json
import re

persons = []
with open("/app/contacts.csv", newline="") as file:
    for place, row in enumerate(csv.DictReader(file)):
        email = row["email"].strip().lower()
        phone = re.sub(r"[^0-9]", "", re.sub(r"^\s*00", "+", row["phone"]))
        new = {"first": place, "names": [(place, row["name"])], "emails": {email} - {""}, "phones": {"+" + phone} - {"+"}}
        same = [p for p in persons if p["emails"] & new["emails"] or p["phones"] & new["phones"]]
        for person in same:
            persons.remove(person)
            for key in ("emails", "phones"):
                new[key] |= person[key]
            new["names"] += person["names"]
            new["first"] = min(new["first"], person["first"])
        persons.append(new)
persons.sort(key=lambda person: person["first"])
listed = [
    {
        "names": list(dict.fromkeys(name for _, name in sorted(person["names"]))),
        "emails": sorted(person["emails"]),
        "phones": sorted(person["phones"]),
    }
    for person in persons
]
with open("/app/people.json", "w") as file:
    json.dump(listed, file)
PYTHON
