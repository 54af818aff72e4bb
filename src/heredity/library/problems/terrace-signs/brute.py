from itertools import permutations


class Solution:
    def gardens(self, signs):
        return sum(
            all(sign == "?" or (a < b) == (sign == "<") for sign, a, b in zip(signs, row, row[1:]))
            for row in permutations(range(len(signs) + 1))
        )
