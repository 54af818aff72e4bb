class Solution:
    def expectedPaid(self, stairs, faces):
        sums = [0.0, 0.0]
        cost = 0.0
        for stair in range(1, stairs + 1):
            cost = (faces - 1 + sums[stair] - sums[max(0, stair - faces)]) / faces
            sums.append(sums[-1] + cost)
        return cost
