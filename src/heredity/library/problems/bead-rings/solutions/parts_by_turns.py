class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)
        reach = [[cell == "1" for cell in row] for row in follows]
        for k in range(size):
            for i in range(size):
                if reach[i][k]:
                    reach[i] = [a or b for a, b in zip(reach[i], reach[k])]
        # A ring never leaves a set of colours that can all reach each other.
        seen, total = set(), 0
        for i in range(size):
            part = [j for j in range(size) if reach[i][j] and reach[j][i]]
            if part and i not in seen:
                seen.update(part)
                total += self.closed([[int(follows[a][b]) for b in part] for a in part], beads, mod)
        return total % mod

    def closed(self, base, beads, mod):
        size = len(base)
        power = [[int(i == j) for j in range(size)] for i in range(size)]
        while beads:
            columns = list(zip(*base))
            if beads & 1:
                power = [[sum(x * y for x, y in zip(row, c)) % mod for c in columns] for row in power]
            base = [[sum(x * y for x, y in zip(row, c)) % mod for c in columns] for row in base]
            beads >>= 1
        return sum(power[i][i] for i in range(size))
