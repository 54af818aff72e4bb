from collections import deque


class Solution:
    def shortest(self, flows, goal):
        # Days from the last to the first: what counts is the highest sum that lies ahead.
        stops, best, total = deque([(0, len(flows))]), [], 0
        for start in range(len(flows) - 1, -1, -1):
            total -= flows[start]
            while stops and stops[0][0] - total >= goal:
                stop = stops.popleft()[1]
                if not best or stop - start <= best[1]:
                    best = [start, stop - start]
            while stops and stops[-1][0] <= total:
                stops.pop()
            stops.append((total, start))
        return best
