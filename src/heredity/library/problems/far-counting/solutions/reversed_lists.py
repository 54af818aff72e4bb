class Solution:
    def difference(self, one, other, base):
        def turned(node):
            first = None
            while node:
                node.next, first, node = first, node, node.next
            return first

        def minus(a, b):
            made, owed = None, 0
            while a or b:
                digit = (a.val if a else 0) - (b.val if b else 0) - owed
                owed = 1 if digit < 0 else 0
                made = ListNode(digit + owed * base, made)
                a, b = a and a.next, b and b.next
            return made, owed

        a, b = turned(one), turned(other)
        made, owed = minus(a, b)
        if owed:
            made, _ = minus(b, a)
        while made.next and not made.val:
            made = made.next
        return made
