class Solution:
    def bestLead(self, coins):
        count = len(coins)
        table = [[(0, 0, 0, 0)] * (count + 1) for _ in range(count + 1)]
        for length in range(1, count + 1):
            for start in range(count - length + 1):
                end = start + length
                a, b = coins[start], coins[end - 1]
                (n1, m1, y1, t1), (n2, m2, y2, t2) = table[start + 1][end], table[start][end - 1]
                none, mine, yours, both = (
                    max(a - n1, b - n2),
                    max(a - y1, b - y2),
                    max(a - m1, b - m2),
                    max(a - t1, b - t2),
                )
                if length > 1:
                    a, b = a + coins[start + 1], b + coins[end - 2]
                    one, other = table[start + 2][end], table[start][end - 2]
                    mine = max(mine, a - one[0], b - other[0])
                    both = max(both, a - one[1], b - other[1])
                table[start][end] = (none, mine, yours, both)
        return table[0][count][3]
