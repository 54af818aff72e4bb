class Solution:
    def heaviest(self, crossings):
        events = sorted(
            [(enter, -weight) for enter, _, weight in crossings] + [(leave, weight) for _, leave, weight in crossings]
        )
        wagons = load = most = 0
        best = [0, 0]
        for time, weight in events:
            wagons += 1 if weight < 0 else -1
            load -= weight
            if wagons > most:
                most, best = wagons, [time, load]
        return best
