class Solution:
    def gardens(self, signs):
        mod, size = 10**9 + 7, len(signs) + 1
        # table[i][r] is the number of rows of i + 1 terraces whose last one is of a rank below r.
        table = [[0] * (size + 2) for _ in range(size)]
        for rank in range(1, size + 2):
            table[0][rank] = 1
        for i, sign in enumerate(signs, 1):
            before, now = table[i - 1], table[i]
            for rank in range(i + 1):
                if sign == "<":
                    one = before[rank]
                elif sign == ">":
                    one = before[i] - before[rank]
                else:
                    one = before[i]
                now[rank + 1] = (now[rank] + one) % mod
        return table[size - 1][size]
