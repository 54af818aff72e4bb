from bisect import bisect_right
from itertools import accumulate


class Solution:
    def unwatched(self, watches):
        watches.sort()
        starts = [start for start, _ in watches]
        reach = list(accumulate((end for _, end in watches), max))
        best, gap = 0, []
        time = reach[0]
        while True:
            # All that start by then are in the first `count`.
            count = bisect_right(starts, time)
            if reach[count - 1] > time:
                time = reach[count - 1]
                continue
            if count == len(starts):
                return gap
            if starts[count] - time > best:
                best, gap = starts[count] - time, [time, starts[count]]
            time = reach[count]
