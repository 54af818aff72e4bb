class Solution:
    def arrival(self, stations, lines, start, goal, now):
        never = 10**18
        best, changed = [never] * stations, True
        best[start] = now
        while changed:
            changed = False
            for a, b, period, minutes in lines:
                if best[a] < never:
                    time = best[a] + -best[a] % period + minutes
                    if time < best[b]:
                        best[b], changed = time, True
        return best[goal] if best[goal] < never else -1
