class Solution:
    def difference(self, one, other, base):
        def digits(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            return row

        a, b = digits(one), digits(other)
        if (len(a), a) < (len(b), b):
            a, b = b, a
        b = [0] * (len(a) - len(b)) + b
        first, owed = None, 0
        for x, y in zip(reversed(a), reversed(b)):
            digit = x - y - owed
            owed = digit < 0
            first = ListNode(digit % base, first)
        while first.next and first.val == 0:
            first = first.next
        return first
