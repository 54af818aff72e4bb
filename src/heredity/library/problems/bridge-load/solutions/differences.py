class Solution:
    def heaviest(self, crossings):
        change = {}
        for enter, leave, weight in crossings:
            change[enter] = change.get(enter, 0) + weight
            change[leave + 1] = change.get(leave + 1, 0) - weight
        load, most, first = 0, 0, 0
        for time in sorted(change):
            load += change[time]
            if load > most:
                most, first = load, time
        return [first, most]
