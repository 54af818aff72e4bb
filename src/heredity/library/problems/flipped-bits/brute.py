class Solution:
    def flips(self, spans):
        return sum(bin(number ^ (number + 1)).count("1") for a, b in spans for number in range(a, b))
