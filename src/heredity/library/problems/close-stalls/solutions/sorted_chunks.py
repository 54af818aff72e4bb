from bisect import bisect_left, insort


class Solution:
    def closest(self, stalls):
        # The active stalls by y as codes: one number each.
        points = sorted(map(tuple, stalls))
        shift, lift = 1 << 32, 1 << 31
        best, many, reach, old, active = 1 << 63, 0, 1 << 32, 0, []
        for x, y in points:
            while points[old][0] < x - reach:
                a, b = points[old]
                del active[bisect_left(active, b * shift + a + lift)]
                old += 1
            low, high = bisect_left(active, (y - reach) * shift), bisect_left(active, (y + reach + 1) * shift)
            for code in active[low:high]:
                b, a = divmod(code, shift)
                far = (x - a + lift) ** 2 + (y - b) ** 2
                if far < best:
                    best, many, reach = far, 1, int(far**0.5) + 1
                elif far == best:
                    many += 1
            insort(active, y * shift + x + lift)
        return [best, many]
