from bisect import insort


class Solution:
    def lineUp(self, names, heights):
        line = []
        for name, height in zip(names, heights):
            insort(line, (-height, name))
        left = [name for place, (_, name) in enumerate(line) if place % 2]
        right = [name for place, (_, name) in enumerate(line) if place % 2 == 0]
        return left[::-1] + right
