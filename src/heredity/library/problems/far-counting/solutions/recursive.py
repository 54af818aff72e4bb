class Solution:
    def difference(self, one, other, base):
        def length(node):
            count = 0
            while node:
                count, node = count + 1, node.next
            return count

        while one.next and not one.val:
            one = one.next
        while other.next and not other.val:
            other = other.next
        a, b = length(one), length(other)
        if a < b:
            one, other, a, b = other, one, b, a
        if a == b:
            x, y = one, other
            while x and x.val == y.val:
                x, y = x.next, y.next
            if x and x.val < y.val:
                one, other = other, one

        def minus(x, y, left):
            if x is None:
                return None, 0
            if left > b:
                rest, owed = minus(x.next, y, left - 1)
                digit = x.val - owed
            else:
                rest, owed = minus(x.next, y.next, left - 1)
                digit = x.val - y.val - owed
            return ListNode(digit % base, rest), int(digit < 0)

        made, _ = minus(one, other, a)
        while made.next and not made.val:
            made = made.next
        return made
