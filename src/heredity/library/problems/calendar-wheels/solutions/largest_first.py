from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        wheels.sort(reverse=True)
        period, day = wheels[0]
        for teeth, mark in wheels[1:]:
            g = gcd(period, teeth)
            if day % g != mark % g:
                return -1
            if period % teeth:
                inverse = pow(period // g, -1, teeth // g)
                day = (day + period * ((mark - day) // g * inverse)) % (period // g * teeth)
                period = period // g * teeth
        return start + (day - start) % period
