class Solution:
    def lineUp(self, names, heights):
        left, right = [], []
        order = sorted(zip(heights, names), key=lambda singer: (-singer[0], singer[1]))
        ends = [right, left]
        for step, (_, name) in enumerate(order):
            ends[step & 1].append(name)
        left.reverse()
        left.extend(right)
        return left
