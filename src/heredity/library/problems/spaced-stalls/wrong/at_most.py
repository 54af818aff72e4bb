class Solution:
    def takings(self, places, stalls):
        low, high = 0, 10**10
        while True:
            fee = (low + high) // 2
            free, taken = (0, 0), (-(10**18), 0)
            for value in places:
                free, taken = max(free, taken), (free[0] + value - fee, free[1] - 1)
            best = max(free, taken)
            if high - low < 2:
                return best[0] + fee * stalls
            low, high = (fee, high) if -best[1] > stalls else (low, fee)
