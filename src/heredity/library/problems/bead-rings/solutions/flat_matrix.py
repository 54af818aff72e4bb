class Solution:
    def rings(self, follows, beads):
        mod, n = 10**9 + 7, len(follows)

        def times(a, b):
            out = []
            for i in range(0, n * n, n):
                row = a[i : i + n]
                for j in range(n):
                    out.append(sum([x * y for x, y in zip(row, b[j::n])]) % mod)
            return out

        base = [int(cell) for row in follows for cell in row]
        power = base
        beads -= 1
        while beads:
            beads, odd = divmod(beads, 2)
            if odd:
                power = times(power, base)
            base = times(base, base)
        return sum(power[:: n + 1]) % mod
