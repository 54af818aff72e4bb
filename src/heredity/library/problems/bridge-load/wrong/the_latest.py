class Solution:
    def heaviest(self, crossings):
        events = []
        for enter, leave, weight in crossings:
            events.append((enter, 0, weight))
            events.append((leave, 1, -weight))
        events.sort()
        load, best = 0, [0, 0]
        for time, _, weight in events:
            load += weight
            if load >= best[1]:
                best = [time, load]
        return best
