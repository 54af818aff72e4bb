class Solution:
    def steadiest(self, heights, sway):
        lows, highs, width = [heights], [heights], 1
        while 2 * width <= len(heights):
            low, high = lows[-1], highs[-1]
            lows.append(list(map(min, low, low[width:])))
            highs.append(list(map(max, high, high[width:])))
            width *= 2
        best = [0, 0]
        for start in range(len(heights)):
            stop = start
            low = high = heights[start]
            for level in range(len(lows) - 1, -1, -1):
                if stop + (1 << level) <= len(heights):
                    one, other = min(low, lows[level][stop]), max(high, highs[level][stop])
                    if other - one <= sway:
                        low, high, stop = one, other, stop + (1 << level)
            if stop - start > best[1]:
                best = [start, stop - start]
        return best
