class Solution:
    def purse(self, first, last):
        total = 0
        for stall in range(1, last + 1):
            days = last // stall - (first - 1) // stall
            total += days * stall if stall % 2 else -days * stall
        return total
