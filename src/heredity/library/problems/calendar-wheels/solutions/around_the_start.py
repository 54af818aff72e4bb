from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        # Days are counted from the start, so the first feast is the smallest solution.
        ahead, period = 0, 1
        for teeth, mark in wheels:
            common = gcd(period, teeth)
            missing = (mark - start - ahead) % teeth
            if missing % common:
                return -1
            part = teeth // common
            if part > 1:
                ahead += missing // common * pow(period // common, -1, part) % part * period
            period *= part
        return start + ahead
