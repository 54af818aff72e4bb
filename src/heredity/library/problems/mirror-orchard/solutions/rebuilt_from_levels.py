class Solution:
    def mirrored(self, tree, every):
        if not tree:
            return None
        root = TreeNode(tree.val)
        level, depth = [(tree, root)], 0
        while level:
            below = []
            for old, new in level:
                sides = (old.right, old.left) if depth % every == 0 else (old.left, old.right)
                new.left, new.right = (TreeNode(side.val) if side else None for side in sides)
                below += [(a, b) for a, b in zip(sides, (new.left, new.right)) if a]
            level, depth = below, depth + 1
        return root
