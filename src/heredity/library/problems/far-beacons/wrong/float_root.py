from math import ceil, sqrt


class Solution:
    def ropeLength(self, beacons):
        points = [[min(beacons)[0], min(beacons)[1]], [max(beacons)[0], max(beacons)[1]]]
        points += [min(beacons, key=lambda b: b[1]), max(beacons, key=lambda b: b[1])]
        return ceil(sqrt(max((x - u) ** 2 + (y - v) ** 2 for x, y in points for u, v in points)))
