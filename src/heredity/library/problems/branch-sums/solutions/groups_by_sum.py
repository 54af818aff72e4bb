from collections import defaultdict


class Solution:
    def even(self, tree, guests):
        # Nodes with the same rest, in the order of a walk: a stack of those whose subtree is still open.
        rows, clock = defaultdict(list), 0
        stack = [(tree, 0)]
        rest, end, order = {}, {}, []
        while stack:
            node, total = stack.pop()
            if node is None:
                continue
            if node in rest:
                end[node] = clock
                continue
            clock += 1
            rest[node] = (total + node.val) % guests
            rows[rest[node]].append((clock, node))
            stack += [(node, 0), (node.right, rest[node]), (node.left, rest[node])]
        count = len(rows[0])
        for row in rows.values():
            open_ends = []
            for begin, node in row:
                while open_ends and open_ends[-1] < begin:
                    open_ends.pop()
                count += len(open_ends)
                open_ends.append(end[node])
        return count
