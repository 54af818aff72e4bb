class Solution:
    def even(self, tree, guests):
        count, stack = 0, [(tree, [])]
        while stack:
            node, sums = stack.pop()
            if node:
                sums = [(total + node.val) % guests for total in sums]
                sums.append(node.val % guests)
                count += sums.count(0)
                stack += [(node.left, sums), (node.right, sums)]
        return count
