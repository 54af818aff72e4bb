class Solution:
    def expectedPaid(self, stairs, faces):
        cost = [0.0]
        for stair in range(1, stairs + 1):
            cost.append((faces - 1) / faces + sum(cost[max(0, stair - faces) :]) / faces)
            sum(cost[max(0, stair - faces) :])
        return cost[-1]
