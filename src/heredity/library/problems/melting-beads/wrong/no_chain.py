class Solution:
    def strung(self, beads, size):
        kinds, counts = [], []
        for bead in beads.encode():
            if kinds and kinds[-1] == bead:
                counts[-1] += 1
            else:
                kinds.append(bead)
                counts.append(1)
            if counts[-1] == size:
                kinds.pop()
                counts.pop()
                if bead < 122:
                    kinds.append(bead + 1)
                    counts.append(1)
        return "".join(chr(kind) * count for kind, count in zip(kinds, counts))
