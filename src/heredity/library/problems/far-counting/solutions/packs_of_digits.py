class Solution:
    def difference(self, one, other, base):
        def packs(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            row.reverse()
            made = []
            for at in range(0, len(row), 16):
                value = 0
                for digit in reversed(row[at : at + 16]):
                    value = value * base + digit
                made.append(value)
            return made

        a, b = packs(one), packs(other)
        length, whole = max(len(a), len(b)), base**16
        a += [0] * (length - len(a))
        b += [0] * (length - len(b))
        if a[::-1] < b[::-1]:
            a, b = b, a
        first, owed = None, 0
        for x, y in zip(a, b):
            owed, value = divmod(x - y + owed, whole)
            for _ in range(16):
                value, digit = divmod(value, base)
                first = ListNode(digit, first)
        while first.next and first.val == 0:
            first = first.next
        return first
