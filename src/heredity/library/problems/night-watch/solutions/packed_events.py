class Solution:
    def unwatched(self, watches):
        events = [2 * start for start, _ in watches]
        events += [2 * end + 1 for _, end in watches]
        events.sort()
        awake = best = last = 0
        gap = []
        for event in events:
            time = event >> 1
            if event & 1:
                awake -= 1
                last = time
            else:
                if awake == 0 and gap is not None and time - last > best and last:
                    best, gap = time - last, [last, time]
                awake += 1
        return gap
