class Solution:
    def steadiest(self, heights, sway):
        size = 1
        while size < len(heights):
            size *= 2
        low = [10**18] * size + heights + [10**18] * (size - len(heights))
        high = [-(10**18)] * size + heights + [-(10**18)] * (size - len(heights))
        for node in range(size - 1, 0, -1):
            low[node] = min(low[2 * node], low[2 * node + 1])
            high[node] = max(high[2 * node], high[2 * node + 1])
        best, stop = [0, 0], 0

        def spread(start, stop):
            small, large = 10**18, -(10**18)
            start, stop = start + size, stop + size
            while start < stop:
                if start & 1:
                    small, large, start = min(small, low[start]), max(large, high[start]), start + 1
                if stop & 1:
                    stop -= 1
                    small, large = min(small, low[stop]), max(large, high[stop])
                start //= 2
                stop //= 2
            return large - small

        start = 0
        for stop in range(1, len(heights) + 1):
            # Only a longer stretch matters, so the window never shrinks.
            if spread(start, stop) <= sway:
                best = [start, stop - start]
            else:
                start += 1
        return best
