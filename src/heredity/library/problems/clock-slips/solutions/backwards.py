class Solution:
    def wholeTime(self, slips):
        size = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        total = 0
        for slip in slips:
            unit = power = 0
            for letter in reversed(slip):
                if letter in size:
                    unit, power = size[letter], 1
                else:
                    total += unit * power * int(letter)
                    power *= 10
        words = []
        for unit in "dhms":
            words.append((total // size[unit], unit))
            total %= size[unit]
        return "".join(f"{number}{unit}" for number, unit in words if number) or "0s"
