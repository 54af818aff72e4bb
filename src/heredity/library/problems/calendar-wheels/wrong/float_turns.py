from math import ceil, gcd


class Solution:
    def nextFeast(self, wheels, start):
        day, period = 0, 1
        for teeth, mark in wheels:
            common = gcd(period, teeth)
            if (mark - day) % common:
                return -1
            part = teeth // common
            day += (mark - day) // common * pow(period // common, -1, part) % part * period
            period *= part
        return day + max(0, ceil((start - day) / period)) * period
