from collections import deque


class Solution:
    def remaining(self, beads):
        waiting, kept = deque(), deque()
        while beads:
            waiting.append(beads.val)
            beads = beads.next
        while waiting:
            value = waiting.popleft()
            if kept and kept[-1] + value == 0:
                kept.pop()
            else:
                kept.append(value)
        first = last = ListNode()
        for value in kept:
            last.next = ListNode(value)
            last = last.next
        return first.next
