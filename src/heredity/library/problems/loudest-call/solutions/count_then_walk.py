from collections import Counter


class Solution:
    def loudest(self, calls):
        count = Counter(calls)
        most = max(count.values())
        seen = Counter()
        for call in calls:
            seen[call] += 1
            if seen[call] == most:
                return call
        return ""
