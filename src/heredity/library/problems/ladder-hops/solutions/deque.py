from collections import deque


class Solution:
    def waysUp(self, rungs):
        window = deque([1, 1, 1, 2], maxlen=4)
        for _ in range(rungs):
            window.append((window[0] + window[3]) % 1_000_000_007)
        return window[0]
