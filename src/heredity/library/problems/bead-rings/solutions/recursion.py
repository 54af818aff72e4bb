class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)

        def times(a, b):
            out = [[0] * size for _ in range(size)]
            for i in range(size):
                for k in range(size):
                    if a[i][k]:
                        for j in range(size):
                            out[i][j] = (out[i][j] + a[i][k] * b[k][j]) % mod
            return out

        def power(count):
            if count == 1:
                return [[int(cell) for cell in row] for row in follows]
            half = power(count // 2)
            whole = times(half, half)
            return times(whole, power(1)) if count % 2 else whole

        whole = power(beads)
        return sum(whole[i][i] for i in range(size)) % mod
