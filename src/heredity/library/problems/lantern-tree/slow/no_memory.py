class Solution:
    def brightest(self, tree):
        def light(node, allowed):
            if node is None:
                return 0
            without = light(node.left, True) + light(node.right, True)
            if not allowed:
                return without
            return max(without, node.val + light(node.left, False) + light(node.right, False))

        return light(tree, True)
