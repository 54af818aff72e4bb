class Solution:
    def arrival(self, stations, lines, start, goal, now):
        best = {start: now}
        for _ in range(stations):
            for a, b, period, minutes in lines:
                if a in best:
                    leave = best[a]
                    while leave % period:
                        leave += 1
                    best[b] = min(best.get(b, leave + minutes), leave + minutes)
        return best.get(goal, -1)
