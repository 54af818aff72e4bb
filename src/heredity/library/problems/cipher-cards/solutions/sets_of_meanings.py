from collections import defaultdict


class Solution:
    def firstClash(self, plain, coded):
        meant, means = defaultdict(set), defaultdict(set)
        for card in range(len(plain)):
            meant[plain[card]].add(coded[card])
            means[coded[card]].add(plain[card])
            if len(meant[plain[card]]) > 1 or len(means[coded[card]]) > 1:
                return card
        return -1
