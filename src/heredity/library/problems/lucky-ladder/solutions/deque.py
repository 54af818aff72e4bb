from collections import deque


class Solution:
    def expectedPaid(self, stairs, faces):
        window, total = deque([0.0]), 0.0
        for _ in range(stairs):
            cost = (faces - 1 + total) / faces
            window.append(cost)
            total += cost
            if len(window) > faces:
                total -= window.popleft()
        return cost
