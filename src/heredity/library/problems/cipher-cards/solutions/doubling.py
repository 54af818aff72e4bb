class Solution:
    def firstClash(self, plain, coded):
        def sound(cards):
            words, codes = plain[:cards], coded[:cards]
            return len(set(zip(words, codes))) == len(set(words)) == len(set(codes))

        step, good = 1, 0
        while step:
            if good + step <= len(plain) and sound(good + step):
                good += step
                step *= 2
            else:
                step //= 2
        return good if good < len(plain) else -1
