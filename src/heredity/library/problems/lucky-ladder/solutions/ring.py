class Solution:
    def expectedPaid(self, stairs, faces):
        ring, total, cost = [0.0] * faces, 0.0, 0.0
        for stair in range(stairs):
            cost = (total + faces - 1) / faces
            total += cost - ring[stair % faces]
            ring[stair % faces] = cost
        return cost
