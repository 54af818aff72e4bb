class Solution:
    def flips(self, spans):
        total = 0
        for a, b in spans:
            for number in range(a, b):
                total += (number ^ number + 1).bit_length()
        return total
