from math import lcm


class Solution:
    def nextFeast(self, wheels, start):
        day, period = 0, 1
        for teeth, mark in wheels:
            for _ in range(teeth):
                if day % teeth == mark:
                    break
                day += period
            else:
                return -1
            period = lcm(period, teeth)
            day %= period
        return day if day >= start else day - (day - start) // period * period
