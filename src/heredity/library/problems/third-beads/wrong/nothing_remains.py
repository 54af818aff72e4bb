class Solution:
    def restrung(self, beads, step):
        last, bead, heap, place = None, beads, None, 0
        while bead:
            after, place = bead.next, place + 1
            if place % step == 0:
                last.next = after
                bead.next, heap = heap, bead
            else:
                last = bead
            bead = after
        if last:
            last.next = heap
        return beads
