from math import lcm


class Solution:
    def singleMarks(self, drives):
        ns, firsts, seconds = zip(*drives)
        torn = [n // both for n, both in zip(ns, map(lcm, firsts, seconds))]
        return [n // a + n // b - 2 * t for n, a, b, t in zip(ns, firsts, seconds, torn)]
