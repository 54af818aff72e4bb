class Solution:
    def firstClash(self, plain, coded):
        def numbers(words):
            seen = {}
            return [seen.setdefault(word, len(seen)) for word in words]

        for card, (one, other) in enumerate(zip(numbers(plain), numbers(coded))):
            if one != other:
                return card
        return -1
