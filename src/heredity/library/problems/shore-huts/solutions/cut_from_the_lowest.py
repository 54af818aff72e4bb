from bisect import bisect, insort


class Solution:
    def firstHuts(self, heights):
        # Places go under water from the lowest up; stretches end at those that have.
        count = len(heights)
        under, best = [-1, count], [(-(10**10), 0)] * (count + 1)
        for place in sorted(range(count), key=heights.__getitem__):
            rank = bisect(under, place)
            start = under[rank - 1] + 1
            length = under[rank] - start
            best[length] = max(best[length], (heights[place], -start))
            insort(under, place)
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1:]]
