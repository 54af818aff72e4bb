from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        counts = {period: periods.count(period) for period in periods}
        lonely = [a for a in counts if counts[a] == 1 and not any(a % b == 0 for b in counts if b != a)]
        if not lonely:
            return -1
        # none[c]: Moebius-like weights of the minutes in which no other bell rings.
        parts = {}
        for one in lonely:
            weights = {one: 1}
            for other in counts:
                if other != one:
                    for common, weight in list(weights.items()):
                        both = lcm(common, other)
                        weights[both] = weights.get(both, 0) - weight
            for common, weight in weights.items():
                parts[common] = parts.get(common, 0) + weight
        parts = {common: weight for common, weight in parts.items() if weight}
        high = 1
        while sum(high // common * weight for common, weight in parts.items()) < k:
            high *= 4
        low = high // 4
        while high - low > 1:
            middle = (low + high) // 2
            if sum(middle // common * weight for common, weight in parts.items()) < k:
                low = middle
            else:
                high = middle
        return high
