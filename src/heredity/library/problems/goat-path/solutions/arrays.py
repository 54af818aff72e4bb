from array import array


class Solution:
    def longest(self, heights, leap):
        width = len(heights[0])
        rocks = array("q")
        for row in heights:
            rocks.extend(row)
        count = len(rocks)
        stands = array("h", bytes(2 * count))
        for rock in sorted(range(count), key=rocks.__getitem__, reverse=True):
            height, best = rocks[rock], 0
            for near, there in (
                (rock - width, rock >= width),
                (rock + width, rock + width < count),
                (rock - 1, rock % width > 0),
                (rock + 1, (rock + 1) % width > 0),
            ):
                if there and 0 < rocks[near] - height <= leap:
                    best = max(best, stands[near])
            stands[rock] = best + 1
        return max(stands)
