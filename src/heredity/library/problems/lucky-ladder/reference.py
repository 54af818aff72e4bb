class Solution:
    def expectedPaid(self, stairs, faces):
        cost, window = [0.0], 0.0
        price = (faces - 1) / faces
        for stair in range(1, stairs + 1):
            window += cost[-1]
            if stair > faces:
                window -= cost[stair - faces - 1]
            cost.append(price + window / faces)
        return cost[-1]
