from collections import deque
from itertools import accumulate


class Solution:
    def shortest(self, flows, goal):
        sums = list(accumulate(flows, initial=0))

        def start_of(length):
            """Some start of a run of at most so many days, the run's length, or None."""
            lows = deque()
            for stop, total in enumerate(sums):
                while lows and sums[lows[-1]] > total:
                    lows.pop()
                lows.append(stop)
                if lows[0] < stop - length:
                    lows.popleft()
                if total - sums[lows[0]] >= goal:
                    return True
            return False

        low, high = 0, len(flows) + 1
        while high - low > 1:
            middle = (low + high) // 2
            if start_of(middle):
                high = middle
            else:
                low = middle
        for start in range(len(flows) - high + 1):
            if sums[start + high] - sums[start] >= goal:
                return [start, high]
        return []
