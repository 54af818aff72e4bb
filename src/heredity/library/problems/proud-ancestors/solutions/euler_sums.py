class Solution:
    def proud(self, tree):
        prefix, begin, count = [0], {}, 0
        stack = [tree] if tree else []
        while stack:
            node = stack.pop()
            if node in begin:
                count += node.val > prefix[-1] - prefix[begin[node]]
                continue
            prefix.append(prefix[-1] + node.val)
            begin[node] = len(prefix) - 1
            stack.append(node)
            stack += [child for child in (node.right, node.left) if child]
        return count
