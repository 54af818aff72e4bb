class Solution:
    def shortest(self, flows, goal):
        best, low, at, total = [], 0, 0, 0
        for stop, flow in enumerate(flows, 1):
            total += flow
            if total - low >= goal and (not best or stop - at < best[1]):
                best = [at, stop - at]
            if total <= low:
                low, at = total, stop
        return best
