from bisect import bisect_left


class Solution:
    def steadiest(self, heights, sway):
        down, up, stop, best = [], [], len(heights), [0, 0]
        for start in range(len(heights) - 1, -1, -1):
            height = heights[start]
            while down and heights[down[-1]] >= height:
                down.pop()
            while up and heights[up[-1]] <= height:
                up.pop()
            lower = bisect_left(down, height - sway, key=heights.__getitem__)
            higher = bisect_left(up, -height - sway, key=lambda one: -heights[one])
            stop = min([stop, *down[lower - 1 : lower], *up[higher - 1 : higher]])
            down.append(start)
            up.append(start)
            if stop - start >= best[1]:
                best = [start, stop - start]
        return best
