import re


class Solution:
    def wholeTime(self, slips):
        size = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        total = 0
        for slip in slips:
            found = dict((unit, int(number)) for number, unit in re.findall(r"(\d+)(\D)", slip))
            total += sum(size[unit] * number for unit, number in found.items())
        out = ""
        for unit, seconds in size.items():
            number, total = divmod(total, seconds)
            out += f"{number}{unit}" if number else ""
        return out or "0s"
