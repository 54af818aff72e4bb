from functools import cache


@cache
def wins(a, b):
    if a < b:
        a, b = b, a
    return any(a > times * b and not wins(a - times * b, b) for times in range(1, a // b + 1))


class Solution:
    def firstWins(self, sacks):
        return [wins(a, b) for a, b in sacks]
