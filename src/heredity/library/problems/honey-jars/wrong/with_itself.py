from bisect import bisect_left, bisect_right


class Solution:
    def pairs(self, jars, low, high):
        jars.sort()
        return sum(bisect_right(jars, high - jar) - bisect_left(jars, low - jar) for jar in jars) // 2
