import re


class Solution:
    def wholeTime(self, slips):
        text = "".join(slips)
        numbers = re.split("[dhms]", text)
        units = re.sub("[0-9]+", "", text)
        sums = dict.fromkeys("dhms", 0)
        for number, unit in zip(numbers, units):
            sums[unit] += int(number)
        minutes, seconds = divmod(sums["s"], 60)
        hours, minutes = divmod(minutes + sums["m"], 60)
        days, hours = divmod(hours + sums["h"], 24)
        days += sums["d"]
        return "".join(f"{n}{u}" for n, u in ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s")) if n) or "0s"
