from functools import cache


class Solution:
    def flips(self, spans):
        @cache
        def flipped(number):
            return number + flipped(number >> 1) if number else 0

        total = 0
        for a, b in spans:
            total += flipped(b) - flipped(a)
        return total
