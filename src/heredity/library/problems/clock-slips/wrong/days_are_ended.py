import re


class Solution:
    def wholeTime(self, slips):
        size = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        total = sum(int(number) * size[unit] for number, unit in re.findall(r"(\d+)(\D)", "".join(slips)))
        parts = total // 86400 % 365, total // 3600 % 24, total // 60 % 60, total % 60
        return "".join(f"{number}{unit}" for number, unit in zip(parts, "dhms") if number) or "0s"
