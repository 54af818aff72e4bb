class Solution:
    def even(self, tree, guests):
        rest, stack = {None: 0}, [(tree, 0)]
        order = []
        while stack:
            node, total = stack.pop()
            if node:
                rest[node] = (total + node.val) % guests
                order.append(node)
                stack += [(node.right, rest[node]), (node.left, rest[node])]
        number = {value: at for at, value in enumerate(sorted(set(rest.values())))}
        seen, count = [0] * len(number), 0
        seen[number[0]] = 1
        work = [tree]
        while work:
            node = work.pop()
            if isinstance(node, int):
                seen[node] -= 1
            elif node:
                at = number[rest[node]]
                count += seen[at]
                seen[at] += 1
                work += [at, node.right, node.left]
        return count
