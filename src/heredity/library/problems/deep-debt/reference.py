from collections import deque
from itertools import accumulate


class Solution:
    def shortest(self, flows, goal):
        sums = list(accumulate(flows, initial=0))
        starts, best = deque(), []
        length = len(sums)
        for stop, total in enumerate(sums):
            while starts and total - sums[starts[0]] >= goal:
                start = starts.popleft()
                if stop - start < length:
                    length = stop - start
                    best = [start, length]
            while starts and sums[starts[-1]] >= total:
                starts.pop()
            starts.append(stop)
        return best
