class Solution:
    def mirrored(self, ribbon, least):
        found = set()
        for centre in range(2 * len(ribbon) - 1):
            low, high = centre // 2, (centre + 1) // 2
            while low >= 0 and high < len(ribbon) and ribbon[low] == ribbon[high] and high - low < 300:
                if high + 1 - low >= least:
                    found.add(ribbon[low : high + 1])
                low -= 1
                high += 1
        return len(found)
