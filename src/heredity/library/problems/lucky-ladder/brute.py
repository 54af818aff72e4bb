from functools import cache


class Solution:
    def expectedPaid(self, stairs, faces):
        @cache
        def paid(left):
            if left <= 0:
                return 0.0
            return sum((face < faces) + paid(left - face) for face in range(1, faces + 1)) / faces

        return paid(stairs)
