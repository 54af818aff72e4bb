from collections import deque


class Solution:
    def brightest(self, tree):
        if not tree:
            return 0
        parent, waits, leaves, stack = {tree: None}, {}, deque(), [tree]
        while stack:
            node = stack.pop()
            children = [child for child in (node.left, node.right) if child]
            waits[node] = len(children)
            if not children:
                leaves.append(node)
            for child in children:
                parent[child] = node
                stack.append(child)
        lit = {node: node.val for node in waits}
        free = dict.fromkeys(waits, 0)
        while True:
            node = leaves.popleft()
            above = parent[node]
            if above is None:
                return max(lit[node], free[node])
            lit[above] += free[node]
            free[above] += max(lit[node], free[node])
            waits[above] -= 1
            if not waits[above]:
                leaves.append(above)
