from collections import deque


class Solution:
    def ends(self, tree):
        found, queue = [], deque([tree] if tree else [])
        while queue:
            found.append(queue[0].val - queue[-1].val)
            for _ in range(len(queue)):
                node = queue.popleft()
                if node.left:
                    queue.append(node.left)
                if node.right:
                    queue.append(node.right)
        return found
