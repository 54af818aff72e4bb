from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        # weights[size][common]: subsets of a size by their common period, cut where it is beyond any answer.
        top = 10**16
        subsets = {(1, 0): 1}
        for period in periods:
            new = dict(subsets)
            for (common, size), count in subsets.items():
                common = lcm(common, period)
                if common <= top:
                    new[common, size + 1] = new.get((common, size + 1), 0) + count
            subsets = new
        weights = {}
        for (common, size), count in subsets.items():
            if size:
                weights[common] = weights.get(common, 0) + (count * size if size % 2 else -count * size)
        parts = [(common, weight) for common, weight in weights.items() if weight]
        low, high = 0, top
        while low < high:
            middle = (low + high) // 2
            if sum(middle // common * weight for common, weight in parts) >= k:
                high = middle
            else:
                low = middle + 1
        return low if low < top else -1
