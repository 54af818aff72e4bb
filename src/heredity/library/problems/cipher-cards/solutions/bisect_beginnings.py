class Solution:
    def firstClash(self, plain, coded):
        def sound(cards):
            words, codes = plain[:cards], coded[:cards]
            return len(set(zip(words, codes))) == len(set(words)) == len(set(codes))

        low, high = 0, len(plain) + 1
        while high - low > 1:
            middle = (low + high) // 2
            if sound(middle):
                low = middle
            else:
                high = middle
        return low if low < len(plain) else -1
