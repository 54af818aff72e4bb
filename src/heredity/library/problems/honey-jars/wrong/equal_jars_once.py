from bisect import bisect_left, bisect_right


class Solution:
    def pairs(self, jars, low, high):
        jars = sorted(set(jars))
        total = 0
        for place, jar in enumerate(jars):
            total += bisect_right(jars, high - jar, place + 1) - bisect_left(jars, low - jar, place + 1)
        return total
