class Solution:
    def mirrored(self, tree, every):
        if not tree:
            return None
        values, left, right, depth, nodes = [], [], [], [], [tree]
        depths = [0]
        for at, node in enumerate(nodes):
            values.append(node.val)
            sides = []
            for child in (node.left, node.right):
                sides.append(len(nodes) if child else -1)
                if child:
                    nodes.append(child)
                    depths.append(depths[at] + 1)
            if depths[at] % every == 0:
                sides.reverse()
            left.append(sides[0])
            right.append(sides[1])
        made = [TreeNode(value) for value in values] + [None]
        for at in range(len(values)):
            made[at].left, made[at].right = made[left[at]], made[right[at]]
        return made[0]
