class Solution:
    def ends(self, tree):
        found, level = [], [tree] if tree else []
        while level:
            found.append(level[0].val - (level[-1].val if len(level) > 1 else 0))
            level = [child for node in level for child in (node.left, node.right) if child]
        return found
