class Solution:
    def difference(self, one, other, base):
        def digits(node):
            return [node.val, *digits(node.next)] if node else []

        a, b = digits(one), digits(other)
        length = max(len(a), len(b))
        a, b = [0] * (length - len(a)) + a, [0] * (length - len(b)) + b
        a, b = max(a, b), min(a, b)
        first, owed = None, 0
        for x, y in zip(reversed(a), reversed(b)):
            digit = x - y - owed
            owed = digit < 0
            first = ListNode(digit % base, first)
        return first
