from collections import deque


class Solution:
    def lineUp(self, names, heights):
        row = deque()
        for _, name in sorted((-height, name) for name, height in zip(names, heights)):
            if len(row) % 2:
                row.appendleft(name)
            else:
                row.append(name)
        return list(row)
