from itertools import pairwise


class Solution:
    def unwatched(self, watches):
        change = {}
        for start, end in watches:
            change[start] = change.get(start, 0) + 1
            change[end] = change.get(end, 0) - 1
        awake, best, gap = 0, 0, []
        for time, after in pairwise(sorted(change)):
            awake += change[time]
            if not awake and after - time > best:
                # A time in which nobody watches holds no start and no end, so it is whole.
                best, gap = after - time, [time, after]
        return gap
