class Solution:
    def firstClash(self, plain, coded):
        for card in range(len(plain)):
            for other in range(card):
                if (plain[card] == plain[other]) != (coded[card] == coded[other]):
                    return card
        return -1
