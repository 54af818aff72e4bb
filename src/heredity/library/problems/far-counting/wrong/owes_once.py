class Solution:
    def difference(self, one, other, base):
        def digits(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            return row

        a, b = digits(one), digits(other)
        length = max(len(a), len(b))
        a, b = [0] * (length - len(a)) + a, [0] * (length - len(b)) + b
        a, b = max(a, b), min(a, b)
        row = [x - y for x, y in zip(a, b)]
        for at in range(length - 1, 0, -1):
            if a[at] < b[at]:
                row[at] += base
                row[at - 1] -= 1
        first = None
        for digit in reversed(row):
            first = ListNode(digit, first)
        while first.next and first.val == 0:
            first = first.next
        return first
