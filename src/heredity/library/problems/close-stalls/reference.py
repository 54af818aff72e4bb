from bisect import bisect_left, insort


class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        best, many, active, old = 1 << 63, 0, [], 0
        reach = 1 << 32
        for x, y in points:
            while points[old][0] < x - reach:
                a, b = points[old]
                del active[bisect_left(active, (b, a))]
                old += 1
            at = bisect_left(active, (y - reach, -(1 << 40)))
            while at < len(active):
                b, a = active[at]
                if b > y + reach:
                    break
                far = (x - a) ** 2 + (y - b) ** 2
                if far < best:
                    best, many, reach = far, 1, int(far**0.5) + 1
                elif far == best:
                    many += 1
                at += 1
            insort(active, (y, x))
        return [best, many]
