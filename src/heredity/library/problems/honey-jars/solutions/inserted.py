from bisect import bisect_left, bisect_right, insort


class Solution:
    def pairs(self, jars, low, high):
        seen, total = [], 0
        for jar in jars:
            total += bisect_right(seen, high - jar) - bisect_left(seen, low - jar)
            insort(seen, jar)
        return total
