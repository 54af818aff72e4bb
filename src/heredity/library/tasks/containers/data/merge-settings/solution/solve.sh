#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import configparser
import json
import re

def typed(text):
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)

merged = {}
for name in ("base", "site", "user"):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(f"/app/settings/{name}.ini")
    for section in parser.sections():
        keys = merged.setdefault(section.lower(), {})
        for key, value in parser[section].items():
            if value == "!unset":
                keys.pop(key, None)
            else:
                keys[key] = typed(value)
with open("/app/settings.json", "w") as file:
    json.dump({section: keys for section, keys in merged.items() if keys}, file)
PYTHON
