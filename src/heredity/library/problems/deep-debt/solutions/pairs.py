from collections import deque


class Solution:
    def shortest(self, flows, goal):
        starts, best, total = deque([(0, 0)]), (len(flows) + 1, 0), 0
        for stop, flow in enumerate(flows, 1):
            total += flow
            while starts and starts[0][0] <= total - goal:
                start = starts.popleft()[1]
                best = min(best, (stop - start, start))
            while starts and starts[-1][0] >= total:
                starts.pop()
            starts.append((total, stop))
        return [best[1], best[0]] if best[0] <= len(flows) else []
