from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        day, period = 0, 1
        for teeth, mark in wheels:
            common = gcd(period, teeth)
            if (mark - day) % common:
                return -1
            part = teeth // common
            turns = (mark - day) // common * pow(period // common, -1, part) % part
            day, period = day + turns * period, period * part
        return day + -((day - start) // period) * period if day < start else day - (day - start) // period * period
