from bisect import bisect_left


class Solution:
    def steadiest(self, heights, sway):
        # Stacks of the last places that were lower or higher; the last one too far away ends the stretch.
        down, up, start, best = [], [], 0, [0, 0]
        for place, height in enumerate(heights):
            while down and heights[down[-1]] >= height:
                down.pop()
            while up and heights[up[-1]] <= height:
                up.pop()
            lower = bisect_left(down, height - sway, key=heights.__getitem__)
            if lower:
                start = max(start, down[lower - 1] + 1)
            higher = bisect_left(up, -height - sway, key=lambda one: -heights[one])
            if higher:
                start = max(start, up[higher - 1] + 1)
            down.append(place)
            up.append(place)
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
