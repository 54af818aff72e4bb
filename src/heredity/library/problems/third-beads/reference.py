class Solution:
    def restrung(self, beads, step):
        first = last = ListNode()
        heap, place, bead = None, 0, beads
        while bead:
            after = bead.next
            place += 1
            if place == step:
                bead.next, heap, place = heap, bead, 0
            else:
                last.next = last = bead
            bead = after
        last.next = heap
        return first.next
