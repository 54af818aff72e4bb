class Solution:
    def difference(self, one, other, base):
        def number(node):
            value = 0
            while node:
                value, node = value * base + node.val, node.next
            return value

        value, first = abs(number(one) - number(other)), None
        while value or not first:
            first, value = ListNode(value % base, first), value // base
        return first
