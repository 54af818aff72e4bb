class Solution:
    def firstHuts(self, heights):
        count, tables, width = len(heights), [heights], 1
        while 2 * width <= count:
            last = tables[-1]
            tables.append(list(map(min, last, last[width:])))
            width *= 2
        best = [(-(10**10), 0)] * (count + 1)
        for place, height in enumerate(heights):
            stop = start = place
            for level in range(len(tables) - 1, -1, -1):
                step = 1 << level
                if stop + step <= count and tables[level][stop] >= height:
                    stop += step
                if start >= step and tables[level][start - step] >= height:
                    start -= step
            best[stop - start] = max(best[stop - start], (height, -start))
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1:]]
