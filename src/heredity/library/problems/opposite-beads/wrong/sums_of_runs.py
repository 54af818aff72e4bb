class Solution:
    def remaining(self, beads):
        first = ListNode(0, beads)
        seen, total, bead = {}, 0, first
        while bead:
            total += bead.val
            seen[total] = bead
            bead = bead.next
        total, bead = 0, first
        while bead:
            total += bead.val
            bead.next = seen[total].next
            bead = bead.next
        return first.next
