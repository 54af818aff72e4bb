class Solution:
    def wholeTime(self, slips):
        place = {"d": 0, "h": 1, "m": 2, "s": 3}
        limit = [0, 24, 60, 60]
        clock = [0, 0, 0, 0]
        number = ""
        for letter in "".join(slips):
            if letter not in place:
                number += letter
                continue
            clock[place[letter]] += int(number)
            number = ""
            for at in (3, 2, 1):
                if clock[at] >= limit[at]:
                    clock[at - 1] += clock[at] // limit[at]
                    clock[at] %= limit[at]
        return "".join(f"{number}{unit}" for number, unit in zip(clock, "dhms") if number) or "0s"
