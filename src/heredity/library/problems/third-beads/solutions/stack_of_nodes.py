class Solution:
    def restrung(self, beads, step):
        start, taken, at = ListNode(0, beads), [], 0
        before = start
        while before.next:
            at += 1
            if at % step == 0:
                taken.append(before.next)
                before.next = before.next.next
            else:
                before = before.next
        while taken:
            before.next = taken.pop()
            before = before.next
        before.next = None
        return start.next
