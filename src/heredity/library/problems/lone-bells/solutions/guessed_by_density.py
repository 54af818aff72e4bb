from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        parts = {}
        for subset in range(1, 1 << len(periods)):
            bells = [p for b, p in enumerate(periods) if subset >> b & 1]
            common = lcm(*bells)
            parts[common] = parts.get(common, 0) + (len(bells) if len(bells) % 2 else -len(bells))
        period = lcm(*periods)
        density = sum(period // common * weight for common, weight in parts.items())
        if not density:
            return -1

        def count(minute):
            return sum(minute // common * weight for common, weight in parts.items())

        # The count lies near the straight line of the density, so a guess is soon right or nearly so.
        guess = k * period // density
        low, high = 0, 10**17
        while True:
            found = count(guess)
            if found < k:
                low = guess
            else:
                high = guess
            if high - low < 2:
                return high
            step = (k - found) * period // density
            guess += step or (1 if found < k else -1)
            if not low < guess < high:
                guess = (low + high) // 2
