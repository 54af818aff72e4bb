from math import lcm


class Solution:
    def nextFeast(self, wheels, start):
        teeth, mark = max(wheels)
        period = lcm(*(teeth for teeth, _ in wheels))
        day = start + (mark - start) % teeth
        while day < start + period:
            if all(day % other == place for other, place in wheels):
                return day
            day += teeth
        return -1
