class Solution:
    def heaviest(self, crossings):
        events = [2 * enter for enter, _, _ in crossings] + [2 * leave + 1 for _, leave, _ in crossings]
        order = sorted(range(len(events)), key=events.__getitem__)
        count = len(crossings)
        load, best = 0, [0, 0]
        for event in order:
            weight = crossings[event % count][2]
            if event >= count:
                load -= weight
                continue
            load += weight
            if load > best[1]:
                best = [events[event] // 2, load]
        return best
