from collections import Counter


class Solution:
    def loudest(self, calls):
        return Counter(calls).most_common(1)[0][0]
