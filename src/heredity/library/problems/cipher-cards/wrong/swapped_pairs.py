class Solution:
    def firstClash(self, plain, coded):
        to = {}
        for card, (word, code) in enumerate(zip(plain, coded)):
            if to.setdefault(word, code) != code or to.setdefault(code, word) != word:
                return card
        return -1
