from math import gcd, lcm


class Solution:
    def nextFeast(self, wheels, start):
        period = lcm(*(teeth for teeth, _ in wheels))
        day, size = wheels[0][1], wheels[0][0]
        for teeth, mark in wheels[1:]:
            g = gcd(size, teeth)
            part = teeth // g
            day += (mark - day) // g * pow(size // g, -1, part) % part * size
            size *= part
        if any(day % teeth != mark for teeth, mark in wheels):
            return -1
        return day + -(-(start - day) // period) * period
