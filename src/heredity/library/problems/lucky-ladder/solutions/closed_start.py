class Solution:
    def expectedPaid(self, stairs, faces):
        price, step = (faces - 1) / faces, 1 + 1 / faces
        first = min(stairs, faces)
        if stairs <= faces:
            return price * step ** (stairs - 1)
        cost = [0.0] + [price * step**stair for stair in range(first)]
        total = sum(cost) - cost[0]
        for stair in range(faces + 1, stairs + 1):
            cost.append(price + total / faces)
            total += cost[-1] - cost[stair - faces]
        return cost[-1]
