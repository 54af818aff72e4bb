class Solution:
    def restrung(self, beads, step):
        values, bead = [], beads
        while bead:
            values.append(bead.val)
            bead = bead.next
        count, bead = len(values), beads
        for at in range(1, count + 1):
            if at % step:
                bead.val = values[at - 1]
                bead = bead.next
        for at in range(count // step * step, 0, -step):
            bead.val = values[at - 1]
            bead = bead.next
        return beads
