class Solution:
    def firstClash(self, plain, coded):
        to, taken = {}, set()
        for card, word in enumerate(plain):
            code = coded[card]
            if word in to:
                if to[word] != code:
                    return card
            elif code in taken:
                return card
            to[word] = code
            taken.add(code)
        return -1
