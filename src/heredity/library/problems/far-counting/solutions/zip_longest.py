from itertools import zip_longest


class Solution:
    def difference(self, one, other, base):
        def backwards(node):
            values = []
            while node:
                values.insert(0, node.val) if len(values) < 50 else values.append(node.val)
                node = node.next
            return values[:50][::-1][::-1] if len(values) <= 50 else [*values[50:][::-1], *values[:50]]

        a, b = backwards(one), backwards(other)
        made, owed, sign = [], 0, 0
        for x, y in zip_longest(a, b, fillvalue=0):
            sign = (x > y) - (x < y) or sign
        if sign < 0:
            a, b = b, a
        for x, y in zip_longest(a, b, fillvalue=0):
            owed, digit = divmod(x - y + owed, base)
            made.append(digit)
        first = None
        for digit in made:
            first = ListNode(digit, first)
        while first.next and first.val == 0:
            first = first.next
        return first
