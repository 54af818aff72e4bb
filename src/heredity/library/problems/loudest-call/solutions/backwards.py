from collections import Counter


class Solution:
    def loudest(self, calls):
        # Counted from the end the leader is the one whose first meeting comes last.
        count = Counter(reversed(calls))
        most = max(count.values())
        return [call for call, times in count.items() if times == most][-1]
