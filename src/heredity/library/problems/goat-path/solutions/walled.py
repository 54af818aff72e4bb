class Solution:
    def longest(self, heights, leap):
        # A wall around the slope that nobody leaps on or from.
        width = len(heights[0]) + 2
        wall = -(10**10)
        rocks = [wall] * width
        for row in heights:
            rocks += [wall, *row, wall]
        rocks += [wall] * width
        stands = [0] * len(rocks)
        ordered = sorted((height, rock) for rock, height in enumerate(rocks) if height != wall)
        for height, rock in ordered:
            low = height - leap
            stands[rock] = 1 + max(
                stands[near] if low <= rocks[near] < height else 0
                for near in (rock - 1, rock + 1, rock - width, rock + width)
            )
        return max(stands)
