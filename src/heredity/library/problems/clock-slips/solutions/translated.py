class Solution:
    def wholeTime(self, slips):
        table = str.maketrans({"d": "*86400 ", "h": "*3600 ", "m": "*60 ", "s": "*1 "})
        total = 0
        for product in "".join(slips).translate(table).split():
            number, size = product.split("*")
            total += int(number) * int(size)
        out = ""
        for size, unit in (86400, "d"), (3600, "h"), (60, "m"), (1, "s"):
            if count := total // size:
                out += str(count) + unit
            total -= count * size
        return out or "0s"
