class Solution:
    def expectedPaid(self, stairs, faces):
        sums = {0: 0.0}
        for stair in range(1, stairs + 1):
            before = sums.get(stair - faces - 1, 0.0)
            cost = 1 - 1 / faces + (sums[stair - 1] - before) / faces
            sums[stair] = sums[stair - 1] + cost
        return sums[stairs] - sums[stairs - 1]
