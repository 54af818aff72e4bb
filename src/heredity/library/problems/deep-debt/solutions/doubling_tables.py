from itertools import accumulate


class Solution:
    def shortest(self, flows, goal):
        sums = list(accumulate(flows, initial=0))
        lows, width = [sums], 1
        while 2 * width <= len(sums):
            lows.append(list(map(min, lows[-1], lows[-1][width:])))
            width *= 2
        best = []
        for stop in range(1, len(sums)):
            limit, place = sums[stop] - goal, stop
            for level in range(len(lows) - 1, -1, -1):
                width = 1 << level
                if place >= width and lows[level][place - width] > limit:
                    place -= width
            if place and (not best or stop - place + 1 < best[1]):
                best = [place - 1, stop - place + 1]
        return best
