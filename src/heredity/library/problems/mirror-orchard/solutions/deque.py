from collections import deque


class Solution:
    def mirrored(self, tree, every):
        queue = deque([(tree, 0)])
        while queue:
            node, depth = queue.popleft()
            if not node:
                continue
            if not depth % every:
                node.left, node.right = node.right, node.left
            queue.append((node.left, depth + 1))
            queue.append((node.right, depth + 1))
        return tree
