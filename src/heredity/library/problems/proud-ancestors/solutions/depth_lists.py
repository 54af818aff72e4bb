class Solution:
    def proud(self, tree):
        levels = [[tree]] if tree else []
        while levels and (below := [c for n in levels[-1] for c in (n.left, n.right) if c]):
            levels.append(below)
        sums, count = [], 0
        for level in reversed(levels):
            here, places = [], iter(sums)
            for node in level:
                below = (next(places) if node.left else 0) + (next(places) if node.right else 0)
                count += node.val > below
                here.append(node.val + below)
            sums = here
        return count
