from itertools import accumulate


class Solution:
    def shortest(self, flows, goal):
        sums = list(accumulate(flows, initial=0))

        def search(low, high):
            # Runs that begin and end within low to high - 1.
            if high - low < 2:
                return (len(sums), 0)
            middle = (low + high) // 2
            best = min(search(low, middle), search(middle, high))
            highest = list(accumulate(sums[middle:high], max))
            reach, lowest = len(highest), None
            for start in range(middle - 1, low - 1, -1):
                # Further back, only a lower sum can help, and then the run may end sooner.
                if lowest is not None and sums[start] >= lowest:
                    continue
                lowest = sums[start]
                while reach and highest[reach - 1] - lowest >= goal:
                    reach -= 1
                if reach < len(highest):
                    best = min(best, (middle + reach - start, start))
            return best

        length, start = search(0, len(sums))
        return [start, length] if length < len(sums) else []
