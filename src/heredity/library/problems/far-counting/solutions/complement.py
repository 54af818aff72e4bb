class Solution:
    def difference(self, one, other, base):
        def digits(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            return row[::-1]

        a, b = digits(one), digits(other)
        length = max(len(a), len(b))
        a += [0] * (length - len(a))
        b += [0] * (length - len(b))
        # a plus what b lacks: the last carry says which of them is larger.
        row, carry = [], 1
        for x, y in zip(a, b):
            carry, digit = divmod(x + base - 1 - y + carry, base)
            row.append(digit)
        if not carry:
            carry = 1
            for at, x in enumerate(row):
                carry, row[at] = divmod(base - 1 - x + carry, base)
        while len(row) > 1 and row[-1] == 0:
            row.pop()
        first = None
        for digit in row:
            first = ListNode(digit, first)
        return first
