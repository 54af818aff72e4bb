import re


class Solution:
    def wholeTime(self, slips):
        def among(unit):
            return sum(int(number) for slip in slips for number in re.findall(rf"(\d+){unit}", slip))

        total = ((among("d") * 24 + among("h")) * 60 + among("m")) * 60 + among("s")
        out = ""
        for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
            if total >= size:
                out += f"{total // size}{unit}"
                total %= size
        return out or "0s"
