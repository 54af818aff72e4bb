class Solution:
    def expectedPaid(self, stairs, faces):
        price = (faces - 1) / faces
        cost = [0.0] * faces + [price]
        while len(cost) < stairs + faces:
            cost.append(cost[-1] + (cost[-1] - cost[-1 - faces]) / faces)
        return cost[stairs + faces - 1]
