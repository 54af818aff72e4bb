class Solution:
    def firstClash(self, plain, coded):
        back = {}
        for card, (word, code) in enumerate(zip(plain, coded)):
            if back.setdefault(code, word) != word:
                return card
        return -1
