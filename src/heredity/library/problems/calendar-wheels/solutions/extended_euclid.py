class Solution:
    def nextFeast(self, wheels, start):
        def extended(a, b):
            if b == 0:
                return a, 1, 0
            common, x, y = extended(b, a % b)
            return common, y, x - a // b * y

        day, period = 0, 1
        for teeth, mark in wheels:
            common, factor, _ = extended(period, teeth)
            if (mark - day) % common:
                return -1
            day += (mark - day) // common * factor % (teeth // common) * period
            period = period // common * teeth
            day %= period
        return day if day >= start else start + (day - start) % period
