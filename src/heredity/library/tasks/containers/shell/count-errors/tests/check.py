"""The counts are right and in order."""

from pathlib import Path

expected = ["api 17", "billing 12", "mail 10", "search 7", "cron 1"]
assert Path("/app/errors.txt").read_text().split("\n")[: len(expected) + 1] == [*expected, ""]
