class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)
        allowed = [[j for j in range(size) if follows[i][j] == "1"] for i in range(size)]
        before = [[i for i in range(size) if j in allowed[i]] for j in range(size)]
        power = [[int(i == j) for j in range(size)] for i in range(size)]
        for bit in bin(beads)[2:]:
            columns = list(zip(*power))
            power = [[sum(map(int.__mul__, row, column)) % mod for column in columns] for row in power]
            if bit == "1":
                # One bead more is an addition only.
                power = [[sum(row[i] for i in before[j]) % mod for j in range(size)] for row in power]
        return sum(power[i][i] for i in range(size)) % mod
