class Solution:
    def difference(self, one, other, base):
        def digits(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            return row

        a, b = digits(one), digits(other)
        a = [0] * (len(b) - len(a)) + a
        b = [0] * (len(a) - len(b)) + b
        if a < b:
            a, b = b, a
        # From the front: a zero waits until it is known whether something is owed behind it.
        made, zeros = [], 0
        for x, y in zip(a, b):
            digit = x - y
            if digit == 0:
                zeros += 1
                continue
            if digit < 0:
                made[-1] -= 1
                made += [base - 1] * zeros
                made.append(digit + base)
            else:
                made += [0] * zeros
                made.append(digit)
            zeros = 0
        made += [0] * zeros
        start = 0
        while start < len(made) - 1 and made[start] == 0:
            start += 1
        first = None
        for digit in reversed(made[start:]):
            first = ListNode(digit, first)
        return first
