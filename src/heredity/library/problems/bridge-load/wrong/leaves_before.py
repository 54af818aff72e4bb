class Solution:
    def heaviest(self, crossings):
        events = []
        for enter, leave, weight in crossings:
            events.append((enter, weight))
            events.append((leave, -weight))
        events.sort()
        load, best = 0, [0, 0]
        for time, weight in events:
            load += weight
            if load > best[1]:
                best = [time, load]
        return best
