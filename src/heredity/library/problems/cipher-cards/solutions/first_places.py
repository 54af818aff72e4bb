class Solution:
    def firstClash(self, plain, coded):
        one, other = {}, {}
        for card in range(len(plain)):
            if one.setdefault(plain[card], card) != other.setdefault(coded[card], card):
                return card
        return -1
