class Solution:
    def firstClash(self, plain, coded):
        def leaf(trie, word):
            for letter in word:
                trie = trie.setdefault(letter, {})
            return trie

        words, codes = {}, {}
        for card, (word, code) in enumerate(zip(plain, coded)):
            one, other = leaf(words, word), leaf(codes, code)
            if one.setdefault("=", code) != code or other.setdefault("=", word) != word:
                return card
        return -1
