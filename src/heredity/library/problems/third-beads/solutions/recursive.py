class Solution:
    def restrung(self, beads, step):
        heap = None

        def kept(bead, place):
            nonlocal heap
            if bead is None:
                return heap
            after = bead.next
            if place == step:
                bead.next, heap = heap, bead
                return kept(after, 1)
            bead.next = kept(after, place + 1)
            return bead

        return kept(beads, 1)
