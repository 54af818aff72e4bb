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
        if a < b:
            a, b = b, a
        first, owed, zeros = None, 0, None
        for x, y in zip(reversed(a), reversed(b)):
            digit = x - y - owed
            owed = digit < 0
            first = ListNode(digit + base if owed else digit, first)
        while first.next and first.val == 0:
            first = first.next
        return first
