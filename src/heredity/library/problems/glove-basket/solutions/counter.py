from collections import Counter


class Solution:
    def lonely(self, gloves):
        count = Counter(gloves)
        return sum(abs(count[size] - count[-size]) for size in {abs(glove) for glove in gloves})
