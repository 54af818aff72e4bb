from collections import Counter


class Solution:
    def loudest(self, calls):
        count = Counter(calls)
        return min(count, key=lambda call: (-count[call], call))
