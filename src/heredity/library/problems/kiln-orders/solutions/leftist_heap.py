class Solution:
    def fired(self, orders):
        def merged(a, b):
            if not a or not b:
                return a or b
            if a[0] < b[0]:
                a, b = b, a
            a[2] = merged(a[2], b)
            if not a[1] or a[1][3] < a[2][3]:
                a[1], a[2] = a[2], a[1]
            a[3] = a[2][3] + 1 if a[2] else 1
            return a

        root, count, total = None, 0, 0
        for hours, due in sorted(orders, key=lambda order: order[1]):
            root = merged(root, [hours, None, None, 1])
            count += 1
            total += hours
            if total > due:
                total -= root[0]
                count -= 1
                root = merged(root[1], root[2])
        return [count, total]
