class Solution:
    def cut(self, tree, least):
        nodes, sides = [tree] if tree else [], []
        for node in nodes:
            pair = []
            for child in (node.left, node.right):
                pair.append(len(nodes) if child else -1)
                if child:
                    nodes.append(child)
            sides.append(pair)
        count = len(nodes)
        sums, made = [0] * (count + 1), [None] * (count + 1)
        for at in range(count - 1, -1, -1):
            left, right = sides[at]
            total = nodes[at].val + sums[left] + sums[right]
            if total >= least:
                sums[at] = total
                made[at] = TreeNode(nodes[at].val, made[left], made[right])
        return made[0]
