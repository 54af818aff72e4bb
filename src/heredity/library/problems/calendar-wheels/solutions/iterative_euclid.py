class Solution:
    def nextFeast(self, wheels, start):
        day, period = 0, 1
        for teeth, mark in wheels:
            a, b, x, u = period, teeth, 1, 0
            while b:
                times = a // b
                a, b, x, u = b, a - times * b, u, x - times * u
            gap = mark - day
            if gap % a:
                return -1
            day += x * (gap // a) % (teeth // a) * period
            period *= teeth // a
        turns = max(0, -((day - start) // period))
        return day + turns * period
