class Solution:
    def shortest(self, flows, goal):
        best = []
        for start in range(len(flows)):
            total = 0
            stop = len(flows) if not best else min(len(flows), start + best[1] - 1)
            for place in range(start, stop):
                total += flows[place]
                if total >= goal:
                    best = [start, place + 1 - start]
                    break
        return best
