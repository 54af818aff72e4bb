class Solution:
    def remaining(self, beads):
        def reduced(bead):
            if bead is None:
                return None
            rest = reduced(bead.next)
            if rest and rest.val + bead.val == 0:
                return rest.next
            bead.next = rest
            return bead

        return reduced(beads)
