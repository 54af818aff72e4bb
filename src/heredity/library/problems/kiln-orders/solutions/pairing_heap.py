class Solution:
    def fired(self, orders):
        def merged(a, b=None):
            if not b:
                return a
            if a[0] < b[0]:
                a, b = b, a
            a[1].append(b)
            return a

        root, count, total = None, 0, 0
        for due, hours in sorted([order[1], order[0]] for order in orders):
            node = [hours, []]
            root = merged(root, node) if root else node
            count, total = count + 1, total + hours
            if total > due:
                total, count = total - root[0], count - 1
                heaps = [merged(*root[1][i : i + 2]) for i in range(0, len(root[1]), 2)]
                root = heaps.pop() if heaps else None
                while heaps:
                    root = merged(root, heaps.pop())
        return [count, total]
