from itertools import groupby


class Solution:
    def wholeTime(self, slips):
        size = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        parts = ["".join(run) for _, run in groupby("".join(slips), str.isdigit)]
        total = sum(int(number) * size[unit] for number, unit in zip(parts[::2], parts[1::2]))
        result = []
        while total:
            unit = next(unit for unit in "dhms" if size[unit] <= total)
            result.append(f"{total // size[unit]}{unit}")
            total %= size[unit]
        return "".join(result) or "0s"
