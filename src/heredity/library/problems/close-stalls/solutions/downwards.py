from bisect import bisect_left, insort


class Solution:
    def closest(self, stalls):
        # The line goes up; what is behind it is thrown out when it is met.
        points = sorted((y, x) for x, y in stalls)
        best, many, reach, active = 1 << 63, 0, 1 << 32, []
        for y, x in points:
            at = bisect_left(active, (x - reach,))
            while at < len(active):
                a, b = active[at]
                if a > x + reach:
                    break
                if y - b > reach:
                    del active[at]
                    continue
                far = (a - x) ** 2 + (b - y) ** 2
                if far < best:
                    best, many, reach = far, 1, int(far**0.5) + 1
                elif far == best:
                    many += 1
                at += 1
            insort(active, (x, y))
        return [best, many]
