from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        def inverse(a, m):
            x, y, left = 1, 0, m
            a %= m
            while a > 1 and left:
                times = a // left
                a, left, x, y = left, a % left, y, x - times * y
            return x % m

        day, period = 0, 1
        for teeth, mark in wheels:
            g = gcd(teeth, period)
            if (mark - day) % g:
                return -1
            part = teeth // g
            if part > 1:
                day = day + (mark - day) // g * inverse(period // g, part) % part * period
                period = period * part
        return day + (start - day + period - 1) // period * period
