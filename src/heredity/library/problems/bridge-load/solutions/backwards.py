class Solution:
    def heaviest(self, crossings):
        change = {}
        for enter, leave, weight in crossings:
            change.setdefault(leave, [0, 0])[0] += weight
            change.setdefault(enter, [0, 0])[1] += weight
        load, best = 0, [0, 0]
        for time in sorted(change, reverse=True):
            come, gone = change[time]
            load += come
            if load >= best[1]:
                best = [time, load]
            load -= gone
        return best
