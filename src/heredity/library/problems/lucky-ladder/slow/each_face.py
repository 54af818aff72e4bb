class Solution:
    def expectedPaid(self, stairs, faces):
        cost = [0.0]
        for stair in range(1, stairs + 1):
            total = 0.0
            for face in range(1, faces + 1):
                total += (face < faces) + (cost[stair - face] if face < stair else 0)
            cost.append(total / faces)
        return cost[-1]
