class Solution:
    def wholeTime(self, slips):
        size = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        total = number = 0
        for slip in slips:
            for letter in slip:
                if letter in size:
                    total += number * size[letter]
                    number = 0
                else:
                    number = 10 * number + ord(letter) - 48
        days, rest = divmod(total, 86400)
        parts = days, rest // 3600, rest % 3600 // 60, rest % 60
        return "".join(str(part) + unit for part, unit in zip(parts, "dhms") if part) or "0s"
