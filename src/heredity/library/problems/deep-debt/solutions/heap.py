from heapq import heappop, heappush


class Solution:
    def shortest(self, flows, goal):
        heap, total, best = [(0, 0)], 0, [0, len(flows) + 1]
        for stop, flow in enumerate(flows, 1):
            total += flow
            while heap and total - heap[0][0] >= goal:
                # A later stop would only be further away.
                start = heappop(heap)[1]
                if stop - start < best[1] or stop - start == best[1] and start < best[0]:
                    best = [start, stop - start]
            heappush(heap, (total, stop))
        return best if best[1] <= len(flows) else []
