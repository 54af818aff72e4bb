class Solution:
    def expectedJars(self, chances):
        sums, signs = [0.0], [-1]
        for chance in chances:
            sums += [total + chance for total in sums]
            signs += [-sign for sign in signs]
        return sum(sign / total for total, sign in zip(sums[1:], signs[1:]))
