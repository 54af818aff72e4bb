class Solution:
    def mirrored(self, ribbon, least):
        total = 0
        for centre in range(2 * len(ribbon) - 1):
            low, high = centre // 2, (centre + 1) // 2
            while low >= 0 and high < len(ribbon) and ribbon[low] == ribbon[high]:
                total += high + 1 - low >= least
                low -= 1
                high += 1
        return total
