class Solution:
    def brightest(self, tree):
        if not tree:
            return 0
        nodes, parents = [tree], [0]
        for place, node in enumerate(nodes):
            if node.left:
                nodes.append(node.left)
                parents.append(place)
            if node.right:
                nodes.append(node.right)
                parents.append(place)
        lit, free = [node.val for node in nodes], [0] * len(nodes)
        for place in range(len(nodes) - 1, 0, -1):
            parent = parents[place]
            lit[parent] += free[place]
            free[parent] += max(lit[place], free[place])
        return max(lit[0], free[0])
