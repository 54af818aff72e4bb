class Solution:
    def restrung(self, beads, step):
        first = last = ListNode()
        bead, at = beads, 0
        while bead:
            at += 1
            if at % step:
                last.next = ListNode(bead.val)
                last = last.next
            bead = bead.next
        heap, bead, at = None, beads, 0
        while bead:
            at += 1
            if at % step == 0:
                heap = ListNode(bead.val, heap)
            bead = bead.next
        last.next = heap
        return first.next
