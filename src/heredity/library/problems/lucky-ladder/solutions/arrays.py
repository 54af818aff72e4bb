from array import array


class Solution:
    def expectedPaid(self, stairs, faces):
        cost = array("d", bytes(8 * (stairs + 1)))
        window = 0.0
        for stair in range(1, stairs + 1):
            cost[stair] = (faces - 1 + window) / faces
            window += cost[stair]
            if stair >= faces:
                window -= cost[stair - faces]
        return cost[stairs]
