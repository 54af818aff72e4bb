from heapq import heapify, heappop


class Solution:
    def lonely(self, gloves):
        left = [glove for glove in gloves if glove > 0]
        right = [-glove for glove in gloves if glove < 0]
        heapify(left)
        heapify(right)
        pairs = 0
        while left and right:
            if left[0] == right[0]:
                heappop(left)
                heappop(right)
                pairs += 1
            else:
                heappop(left if left[0] < right[0] else right)
        return len(gloves) - 2 * pairs
