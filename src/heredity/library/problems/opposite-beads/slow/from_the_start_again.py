class Solution:
    def remaining(self, beads):
        first = ListNode(0, beads)
        changed = True
        while changed:
            changed, before = False, first
            while before.next and before.next.next:
                if before.next.val + before.next.next.val == 0:
                    before.next = before.next.next.next
                    changed = True
                    break
                before = before.next
        return first.next
