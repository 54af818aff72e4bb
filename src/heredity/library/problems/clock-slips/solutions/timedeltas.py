import re
from datetime import timedelta


class Solution:
    def wholeTime(self, slips):
        names = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
        days, rest = 0, timedelta()
        for slip in slips:
            for number, unit in re.findall(r"(\d+)([dhms])", slip):
                if unit == "d":
                    days += int(number)
                    continue
                rest += timedelta(**{names[unit]: int(number)})
                days += rest.days
                rest = timedelta(seconds=rest.seconds)
        hours, seconds = divmod(rest.seconds, 3600)
        parts = days, hours, seconds // 60, seconds % 60
        return "".join(f"{part}{unit}" for part, unit in zip(parts, "dhms") if part) or "0s"
