from math import fsum


class Solution:
    def expectedJars(self, chances):
        sums = [0.0]
        for chance in chances:
            sums += [total + chance for total in sums]
        return fsum((1 if i.bit_count() % 2 else -1) / sums[i] for i in range(1, len(sums)))
