from collections import deque


class Solution:
    def fewestPiles(self, sizes, gap):
        order = sorted(sizes)
        half = len(order) // 2
        inner, outer = deque(order[:half]), deque(order[len(order) - half :])
        piles = len(order)
        while outer:
            if outer.popleft() - inner[0] >= gap:
                inner.popleft()
                piles -= 1
        return piles
