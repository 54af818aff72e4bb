class Solution:
    def restrung(self, beads, step):
        first = last = ListNode()
        heap, bead = None, beads
        while bead:
            for _ in range(step - 1):
                if not bead:
                    break
                last.next = last = bead
                bead = bead.next
            if bead:
                after = bead.next
                bead.next, heap = heap, bead
                bead = after
        last.next = heap
        return first.next
