class Solution:
    def firstClash(self, plain, coded):
        first = {}
        for card in range(len(plain) - 1, -1, -1):
            first["plain", plain[card]] = card
            first["coded", coded[card]] = card
        ones = [first["plain", word] for word in plain]
        others = [first["coded", code] for code in coded]
        return next((card for card in range(len(plain)) if ones[card] != others[card]), -1)
