from collections import Counter


class Solution:
    def lonely(self, gloves):
        return sum(count % 2 for count in Counter(map(abs, gloves)).values())
