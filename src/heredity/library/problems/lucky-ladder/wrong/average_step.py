class Solution:
    def expectedPaid(self, stairs, faces):
        return max(1, stairs / ((faces + 1) / 2)) * (faces - 1) / faces
