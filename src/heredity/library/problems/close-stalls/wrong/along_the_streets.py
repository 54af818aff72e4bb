from bisect import bisect_left, insort


class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        best, many, active, old = 1 << 40, 0, [], 0
        for x, y in points:
            while points[old][0] < x - best:
                a, b = points[old]
                del active[bisect_left(active, (b, a))]
                old += 1
            at = bisect_left(active, (y - best, -(1 << 40)))
            while at < len(active) and active[at][0] <= y + best:
                b, a = active[at]
                far = abs(x - a) + abs(y - b)
                if far <= best:
                    best, many = far, many + 1 if far == best else 1
                at += 1
            insort(active, (y, x))
        return [best * best, many]
