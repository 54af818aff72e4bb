class Solution:
    def proud(self, tree):
        nodes, parent = ([tree], [-1]) if tree else ([], [])
        for at, node in enumerate(nodes):
            for child in (node.left, node.right):
                if child:
                    nodes.append(child)
                    parent.append(at)
        below = [0] * (len(nodes) + 1)
        for at in range(len(nodes) - 1, -1, -1):
            below[parent[at]] += below[at] + nodes[at].val
        return sum(node.val > total for node, total in zip(nodes, below))
