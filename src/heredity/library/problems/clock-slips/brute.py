class Solution:
    def wholeTime(self, slips):
        count = {"d": 0, "h": 0, "m": 0, "s": 0}
        for slip in slips:
            number = ""
            for letter in slip:
                if letter.isdigit():
                    number += letter
                else:
                    count[letter] += int(number)
                    number = ""
        for small, large, size in (("s", "m", 60), ("m", "h", 60), ("h", "d", 24)):
            count[large] += count[small] // size
            count[small] %= size
        return "".join(f"{number}{unit}" for unit, number in count.items() if number) or "0s"
