from itertools import combinations
from math import gcd, lcm


class Solution:
    def nextFeast(self, wheels, start):
        if any((a - b) % gcd(m, n) for (m, a), (n, b) in combinations(wheels, 2)):
            return -1
        period = lcm(*(teeth for teeth, _ in wheels))
        left, day = period, 0
        for teeth, mark in wheels:
            part = gcd(left, teeth)
            while (rest := left // part) and (more := gcd(rest, part)) > 1:
                part *= more
            part = gcd(part, left)
            if (left // part) and teeth % part == 0 and part > 1:
                other = period // part
                day += mark * other * pow(other, -1, part) if gcd(other, part) == 1 else 0
                left //= part
        if any(day % teeth != mark for teeth, mark in wheels):
            day, size = 0, 1
            for teeth, mark in wheels:
                g = gcd(size, teeth)
                day += (mark - day) // g * pow(size // g, -1, teeth // g) % (teeth // g) * size
                size = size // g * teeth
        return start + (day - start) % period
