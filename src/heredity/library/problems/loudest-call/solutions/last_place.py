from collections import Counter


class Solution:
    def loudest(self, calls):
        count = Counter(calls)
        last = {call: place for place, call in enumerate(calls)}
        return min(count, key=lambda call: (-count[call], last[call]))
