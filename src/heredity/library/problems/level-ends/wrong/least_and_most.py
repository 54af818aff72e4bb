class Solution:
    def ends(self, tree):
        found, level = [], [tree] if tree else []
        while level:
            values = [node.val for node in level]
            found.append(min(values) - max(values))
            level = [child for node in level for child in (node.left, node.right) if child]
        return found
