class Solution:
    def wholeTime(self, slips):
        text = "".join(slips)
        for unit in "dhms":
            text = text.replace(unit, unit + " ")
        total = 0
        for part in text.split():
            total += int(part[:-1]) * {"d": 86400, "h": 3600, "m": 60, "s": 1}[part[-1]]
        out = []
        for unit, size in (("s", 60), ("m", 60), ("h", 24), ("d", total + 1)):
            total, number = divmod(total, size)
            if number:
                out.append(f"{number}{unit}")
        return "".join(reversed(out)) or "0s"
