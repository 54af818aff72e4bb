class Solution:
    def expectedPaid(self, stairs, faces):
        cost, window = [0.0], 0.0
        for stair in range(1, stairs + 1):
            window += cost[-1] - (cost[stair - faces - 1] if stair > faces else 0)
            cost.append(1 + window / faces)
        return cost[-1]
