class Solution:
    def unwatched(self, watches):
        times = sorted({time for watch in watches for time in watch})
        free = []
        for one, other in zip(times, times[1:]):
            if not any(start <= one and other <= end for start, end in watches):
                free.append((one - other, [one, other]))
        return min(free)[1] if free else []
