class Solution:
    def remaining(self, beads):
        start = ListNode(0, beads)
        start.before, bead = None, beads
        before = start
        while bead:
            bead.before = before
            before, bead = bead, bead.next
        bead = beads
        while bead and bead.next:
            if bead.val + bead.next.val == 0:
                before, after = bead.before, bead.next.next
                before.next = after
                if after:
                    after.before = before
                bead = before if before is not start else after
            else:
                bead = bead.next
        return start.next
