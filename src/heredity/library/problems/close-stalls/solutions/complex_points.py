from bisect import bisect_left, insort


class Solution:
    def closest(self, stalls):
        points = sorted((complex(*stall) for stall in stalls), key=lambda p: (p.real, p.imag))
        counts, best, start = {}, 1 << 63, 0
        reach, ys = 1 << 32, []
        for place, point in enumerate(points):
            while points[start].real < point.real - reach:
                gone = (points[start].imag, start)
                del ys[bisect_left(ys, gone)]
                start += 1
            for y, other in ys[
                bisect_left(ys, (point.imag - reach, -1)) : bisect_left(ys, (point.imag + reach, place))
            ]:
                step = points[other] - point
                far = int(step.real) ** 2 + int(step.imag) ** 2
                if far <= best:
                    best = far
                    counts[far] = counts.get(far, 0) + 1
                    reach = int(best**0.5) + 1
            insort(ys, (point.imag, place))
        return [best, counts[best]]
