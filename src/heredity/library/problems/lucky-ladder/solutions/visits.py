class Solution:
    def expectedPaid(self, stairs, faces):
        # How likely each stair is visited; each visit but the last pays for a throw.
        visits, window = [1.0], 0.0
        for stair in range(1, stairs):
            window += visits[-1]
            if stair > faces:
                window -= visits[stair - faces - 1]
            visits.append(window / faces)
        return sum(visits) * (faces - 1) / faces
