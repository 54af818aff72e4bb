class Solution:
    def firstClash(self, plain, coded):
        to, back = {}, {}
        for card, (word, code) in enumerate(zip(plain, coded)):
            if to.setdefault(word, code) != code or back.setdefault(code, word) != word:
                return card
        return -1
