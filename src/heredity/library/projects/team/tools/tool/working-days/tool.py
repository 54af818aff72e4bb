"""Counts the working days between two dates."""

from datetime import date, timedelta


def run(first: str, last: str, holidays: list[str] = ()) -> int:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    if end < start:
        raise ValueError(f"{last} is before {first}; give the earlier date first")
    free = {date.fromisoformat(day) for day in holidays}
    days = (start + timedelta(days=n) for n in range((end - start).days + 1))
    return sum(day.weekday() < 5 and day not in free for day in days)
