class Solution:
    def expectedPaid(self, stairs, faces):
        change = [0.0] * (stairs + faces + 2)
        change[1], change[faces + 1] = 1 / faces, -1 / faces
        chance, paid = 0.0, 1.0
        for stair in range(1, stairs):
            chance += change[stair]
            paid += chance
            change[stair + 1] += chance / faces
            change[stair + faces + 1] -= chance / faces
        return paid * (faces - 1) / faces
