class Solution:
    def steadiest(self, heights, sway):
        best = [0, 0]
        for start in range(len(heights)):
            low = high = heights[start]
            stop = start
            while stop < len(heights):
                low, high = min(low, heights[stop]), max(high, heights[stop])
                if high - low > sway:
                    break
                stop += 1
            if stop - start > best[1]:
                best = [start, stop - start]
        return best
