from collections import deque


class Solution:
    def difference(self, one, other, base):
        a, b = deque(), deque()
        for row, node in ((a, one), (b, other)):
            while node:
                row.append(node.val)
                node = node.next
        while len(a) < len(b):
            a.appendleft(0)
        while len(b) < len(a):
            b.appendleft(0)
        if a < b:
            a, b = b, a
        made, owed = deque(), 0
        while a:
            digit = a.pop() - b.pop() + owed
            owed = digit // base
            made.appendleft(digit % base)
        while len(made) > 1 and made[0] == 0:
            made.popleft()
        first = last = ListNode(made.popleft())
        for digit in made:
            last.next = ListNode(digit)
            last = last.next
        return first
