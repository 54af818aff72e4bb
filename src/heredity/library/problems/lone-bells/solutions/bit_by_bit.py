from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        top = 60
        commons, weights = [], []
        for subset in range(1, 1 << len(periods)):
            bells = [p for b, p in enumerate(periods) if subset >> b & 1]
            commons.append(lcm(*bells))
            weights.append(len(bells) * (-1) ** (len(bells) - 1))
        answer = 0
        for bit in range(top, -1, -1):
            guess = answer | 1 << bit
            if sum(guess // common * weight for common, weight in zip(commons, weights)) < k:
                answer = guess
        return -1 if answer == (1 << top + 1) - 1 else answer + 1
