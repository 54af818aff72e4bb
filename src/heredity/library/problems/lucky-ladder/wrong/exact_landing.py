class Solution:
    def expectedPaid(self, stairs, faces):
        chance, window = [1.0], 0.0
        for stair in range(1, stairs + 1):
            window += chance[-1] - (chance[stair - faces - 1] if stair > faces else 0)
            chance.append(window / faces)
        return sum(chance[1:]) * (faces - 1) / faces
