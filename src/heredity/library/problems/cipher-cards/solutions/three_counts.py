class Solution:
    def firstClash(self, plain, coded):
        words, codes, pairs = set(), set(), set()
        for card, pair in enumerate(zip(plain, coded)):
            words.add(pair[0])
            codes.add(pair[1])
            pairs.add(pair)
            if not len(words) == len(codes) == len(pairs):
                return card
        return -1
