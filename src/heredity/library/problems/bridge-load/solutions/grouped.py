from itertools import groupby


class Solution:
    def heaviest(self, crossings):
        events = sorted(
            [(enter, weight) for enter, _, weight in crossings]
            + [(leave + 1, -weight) for _, leave, weight in crossings]
        )
        load, best = 0, [0, 0]
        for time, group in groupby(events, key=lambda event: event[0]):
            load += sum(weight for _, weight in group)
            if load > best[1]:
                best = [time, load]
        return best
