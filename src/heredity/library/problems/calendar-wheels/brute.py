from math import lcm


class Solution:
    def nextFeast(self, wheels, start):
        period = lcm(*(teeth for teeth, _ in wheels))
        for day in range(start, start + period):
            if all(day % teeth == mark for teeth, mark in wheels):
                return day
        return -1
