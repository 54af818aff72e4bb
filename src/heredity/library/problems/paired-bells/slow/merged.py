import heapq


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()

        def away(bell):
            right = next((i for i, other in enumerate(low) if other >= bell), len(low))
            left = right - 1
            while left >= 0 or right < len(low):
                if right == len(low) or (left >= 0 and bell - low[left] <= low[right] - bell):
                    yield bell - low[left]
                    left -= 1
                else:
                    yield low[right] - bell
                    right += 1

        for place, gap in enumerate(heapq.merge(*map(away, high)), 1):
            if place == rank:
                return gap
        return -1
