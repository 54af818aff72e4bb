from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        def smallest(a, b, m):
            """The smallest x with a * x = b modulo m, by turning the equation over."""
            a, b = a % m, b % m
            if b == 0:
                return 0
            if a == 0:
                return -1
            x = smallest(m, -b, a)
            return -1 if x < 0 else (b + m * x) // a

        day, period = 0, 1
        for teeth, mark in wheels:
            turns = smallest(period, mark - day, teeth)
            if turns < 0:
                return -1
            day += turns * period
            period *= teeth // gcd(period, teeth)
            day %= period
        return start + (day - start) % period
