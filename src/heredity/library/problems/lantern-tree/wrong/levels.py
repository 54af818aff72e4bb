class Solution:
    def brightest(self, tree):
        sums = [0, 0]
        level, depth = [tree] if tree else [], 0
        while level:
            sums[depth % 2] += sum(node.val for node in level if node.val > 0)
            level = [child for node in level for child in (node.left, node.right) if child]
            depth += 1
        return max(sums)
