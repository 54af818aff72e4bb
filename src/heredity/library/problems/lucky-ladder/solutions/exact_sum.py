from math import fsum


class Solution:
    def expectedPaid(self, stairs, faces):
        chance, window = [1.0], 1.0
        for stair in range(1, stairs):
            chance.append(window / faces)
            window += chance[-1]
            if stair >= faces:
                window -= chance[stair - faces]
        return fsum(chance) - fsum(chance) / faces
