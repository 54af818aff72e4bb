class Solution:
    def purse(self, first, last):
        total = 0
        for day in range(first, last + 1):
            for stall in range(1, day + 1):
                if day % stall == 0:
                    total += stall if stall % 2 else -stall
        return total
