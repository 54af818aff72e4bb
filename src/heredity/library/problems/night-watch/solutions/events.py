class Solution:
    def unwatched(self, watches):
        events = sorted([(start, -1) for start, _ in watches] + [(end, 1) for _, end in watches])
        awake, best, gap, since = 0, 0, [], events[0][0]
        for time, kind in events:
            if kind < 0:
                if not awake and time - since > best:
                    best, gap = time - since, [since, time]
                awake += 1
            else:
                awake -= 1
                since = time
        return gap
