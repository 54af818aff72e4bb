#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
from datetime import datetime

users = {}
with open("/app/events.csv", newline="") as file:
    for row in csv.DictReader(file):
        users.setdefault(row["user"], []).append(row["time"])
sessions = []
for user, times in users.items():
    run = []
    for time in sorted(times):
        if run and (datetime.fromisoformat(time) - datetime.fromisoformat(run[-1])).total_seconds() > 1800:
            sessions.append((user, run))
            run = []
        run.append(time)
    sessions.append((user, run))
with open("/app/sessions.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["user", "start", "end", "events", "minutes"])
    for user, run in sorted(sessions, key=lambda session: (session[1][0], session[0])):
        lasted = datetime.fromisoformat(run[-1]) - datetime.fromisoformat(run[0])
        writer.writerow([user, run[0], run[-1], len(run), int(lasted.total_seconds() // 60)])
PYTHON
