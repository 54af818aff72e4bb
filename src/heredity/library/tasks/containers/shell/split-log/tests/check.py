"""Each day has its lines in their order."""

from pathlib import Path

days = {}
day = ""
for line in Path("/tests/app.log").read_text().splitlines(keepends=True):
    day = day if line.startswith(" ") else line[:10]
    days[day] = days.get(day, "") + line
assert {path.name: path.read_text() for path in Path("/app/days").iterdir()} == {
    f"{day}.log": text for day, text in days.items()
}
assert Path("/app/app.log").read_bytes() == Path("/tests/app.log").read_bytes()
