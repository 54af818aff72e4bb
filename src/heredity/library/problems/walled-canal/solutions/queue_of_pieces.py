from collections import deque


class Solution:
    def water(self, walls, drains):
        def stands(part):
            part, held, left, right = deque(part), 0, 0, 0
            while part:
                left, right = max(left, part[0]), max(right, part[-1])
                held += left - part.popleft() if left <= right else right - part.pop()
            return held

        total, start = 0, 0
        for drain in sorted({*drains, len(walls) - 1}):
            total += stands(walls[start : drain + 1])
            start = drain
        return total
