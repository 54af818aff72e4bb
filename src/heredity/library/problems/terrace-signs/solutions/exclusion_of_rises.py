class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        if signs.count("<") < signs.count(">"):
            signs = signs.translate(str.maketrans("<>", "><"))
        # Now `>` is the rarer one. Pieces end only where the sign is no `<`.
        size = len(signs) + 1
        cuts = [0] + [i + 1 for i, sign in enumerate(signs) if sign != "<"] + [size]
        choose, rows = [1], []
        for _ in range(size + 1):
            rows.append(choose)
            choose = [1, *((a + b) % mod for a, b in zip(choose, choose[1:])), 1]
        ways = {0: 1}
        for i in range(1, len(cuts)):
            stop, total, sign = cuts[i], 0, 1
            row = rows[stop]
            for j in range(i - 1, -1, -1):
                start = cuts[j]
                total += sign * row[start] * ways[start]
                if start and signs[start - 1] == "?":
                    break
                sign = -sign
            ways[stop] = total % mod
        return ways[size]
