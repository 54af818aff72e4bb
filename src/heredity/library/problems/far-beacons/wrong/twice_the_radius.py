from math import ceil


class Solution:
    def ropeLength(self, beacons):
        a = sum(x for x, _ in beacons) / len(beacons)
        b = sum(y for _, y in beacons) / len(beacons)
        return ceil(2 * max((x - a) ** 2 + (y - b) ** 2 for x, y in beacons) ** 0.5)
