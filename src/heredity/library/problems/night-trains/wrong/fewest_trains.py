class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for a, b, period, minutes in lines:
            leaving[a].append((b, period, minutes))
        best, order = {start: now}, [start]
        for a in order:
            for b, period, minutes in leaving[a]:
                if b not in best:
                    best[b] = best[a] + -best[a] % period + minutes
                    order.append(b)
        return best.get(goal, -1)
