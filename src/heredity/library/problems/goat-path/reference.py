class Solution:
    def longest(self, heights, leap):
        width = len(heights[0])
        rocks = [height for row in heights for height in row]
        count = len(rocks)
        stands = [1] * count
        for rock in sorted(range(count), key=rocks.__getitem__):
            height, column, best = rocks[rock], rock % width, 0
            low = height - leap
            if column and low <= rocks[rock - 1] < height:
                best = stands[rock - 1]
            if column + 1 < width and low <= rocks[rock + 1] < height and stands[rock + 1] > best:
                best = stands[rock + 1]
            if rock >= width and low <= rocks[rock - width] < height and stands[rock - width] > best:
                best = stands[rock - width]
            if rock + width < count and low <= rocks[rock + width] < height and stands[rock + width] > best:
                best = stands[rock + width]
            stands[rock] = best + 1
        return max(stands)
