class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            # Blocks of 64 days: the first of each block by powers, within blocks by hand.
            blocks, rest = divmod(n, 64)
            block, power = 0, 1
            for _ in range(64):
                block = (block + power) % m
                power = power * a % m
            total, part, factor = 0, 1, power
            while blocks:
                if blocks & 1:
                    total = (total * factor + part) % m
                part, factor, blocks = part * (factor + 1) % m, factor * factor % m, blocks >> 1
            total = total * block % m
            for _ in range(rest):
                total = (total * a + 1) % m
            found.append(total)
        return found
