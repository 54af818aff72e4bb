class Solution:
    def difference(self, one, other, base):
        def turned(node):
            first, count, top = None, 0, 0
            while node:
                node.next, first, node = first, node, node.next
                count += 1
            return first

        a, b = turned(one), turned(other)
        x, y, sign = a, b, 0
        while True:
            sign = (x.val > y.val) - (x.val < y.val) or sign
            if not x.next and not y.next:
                break
            if not x.next:
                x.next = ListNode()
            if not y.next:
                y.next = ListNode()
            x, y = x.next, y.next
        if sign < 0:
            a, b = b, a
        x, y, owed = a, b, 0
        while x:
            x.val -= y.val + owed
            owed = 0
            if x.val < 0:
                x.val, owed = x.val + base, 1
            x, y = x.next, y.next
        a = turned(a)
        while a.next and a.val == 0:
            a = a.next
        return a
