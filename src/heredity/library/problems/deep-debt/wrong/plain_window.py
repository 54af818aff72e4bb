class Solution:
    def shortest(self, flows, goal):
        best, start, total = [], 0, 0
        for stop, flow in enumerate(flows):
            total += flow
            while start <= stop and total >= goal:
                if not best or stop + 1 - start < best[1]:
                    best = [start, stop + 1 - start]
                total -= flows[start]
                start += 1
        return best
