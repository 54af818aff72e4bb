class Solution:
    def nextFeast(self, wheels, start):
        day, period = 0, 1
        for teeth, mark in wheels:
            day += (mark - day) * pow(period, -1, teeth) % teeth * period
            period *= teeth
        return day if day >= start else day - (day - start) // period * period
