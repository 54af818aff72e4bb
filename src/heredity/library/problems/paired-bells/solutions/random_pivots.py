import random
from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()
        # Differences as two sorted runs for each bell; of each run the part that can still hold the answer.
        runs = []
        for bell in high:
            split = bisect_left(low, bell)
            runs.append([bell, 1, split, len(low)])
            runs.append([bell, -1, 0, split])
        least, most = -1, 10**12
        while True:
            alive = [run for run in runs if run[3] > run[2]]
            if not alive:
                return most
            weights = [run[3] - run[2] for run in alive]
            bell, sign, start, end = random.choices(alive, weights)[0]
            pivot = sign * (low[random.randrange(start, end)] - bell)
            count = sum(bisect_right(low, one + pivot) - bisect_left(low, one - pivot) for one in high)
            if count >= rank:
                most = pivot
                for run in alive:
                    if run[1] > 0:
                        run[3] = max(run[2], min(run[3], bisect_left(low, run[0] + pivot)))
                    else:
                        run[2] = min(run[3], max(run[2], bisect_right(low, run[0] - pivot)))
            else:
                least = pivot
                for run in alive:
                    if run[1] > 0:
                        run[2] = min(run[3], max(run[2], bisect_right(low, run[0] + pivot)))
                    else:
                        run[3] = max(run[2], min(run[3], bisect_left(low, run[0] - pivot)))
