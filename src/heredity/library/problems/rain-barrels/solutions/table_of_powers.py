class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            sums, factors = [1 % m], [a % m]
            while len(sums) < n.bit_length():
                sums.append(sums[-1] * (1 + factors[-1]) % m)
                factors.append(factors[-1] * factors[-1] % m)
            total = 0
            for bit, (part, factor) in enumerate(zip(sums, factors)):
                if n >> bit & 1:
                    total = (total * factor + part) % m
            found.append(total)
        return found
