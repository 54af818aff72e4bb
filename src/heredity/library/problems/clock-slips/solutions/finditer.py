import re


class Solution:
    def wholeTime(self, slips):
        total = 0
        for slip in slips:
            for found in re.finditer(r"(\d+)(?:(d)|(h)|(m)|(s))", slip):
                total += int(found[1]) * (1, 1, 86400, 3600, 60, 1)[found.lastindex]
        text = f"{total // 86400}d{total // 3600 % 24}h{total // 60 % 60}m{total % 60}s"
        return "".join(part for part in re.findall(r"\d+\D", text) if part[0] != "0") or "0s"
