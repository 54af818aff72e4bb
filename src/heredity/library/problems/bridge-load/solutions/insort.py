from bisect import insort


class Solution:
    def heaviest(self, crossings):
        events = []
        for enter, leave, weight in crossings:
            insort(events, (enter, -weight))
            insort(events, (leave, weight))
        load, best = 0, [0, 0]
        for time, weight in events:
            load -= weight
            if load > best[1]:
                best = [time, load]
        return best
