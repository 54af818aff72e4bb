from collections import deque


class Solution:
    def restrung(self, beads, step):
        kept, taken, at = deque(), deque(), 0
        while beads:
            at += 1
            if at % step:
                kept.append(beads.val)
            else:
                taken.appendleft(beads.val)
            beads = beads.next
        kept.extend(taken)
        first = last = ListNode()
        while kept:
            last.next = ListNode(kept.popleft())
            last = last.next
        return first.next
