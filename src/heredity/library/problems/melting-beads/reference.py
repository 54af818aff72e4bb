class Solution:
    def strung(self, beads, size):
        kinds, counts = [], []
        for bead in beads.encode():
            while True:
                if kinds and kinds[-1] == bead:
                    counts[-1] += 1
                else:
                    kinds.append(bead)
                    counts.append(1)
                if counts[-1] < size:
                    break
                kinds.pop()
                counts.pop()
                bead += 1
                if bead > 122:
                    break
        return "".join(chr(kind) * count for kind, count in zip(kinds, counts))
