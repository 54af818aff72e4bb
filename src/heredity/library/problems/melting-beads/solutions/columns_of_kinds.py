class Solution:
    def strung(self, beads, size):
        # A stack for each kind of where its runs lie; what is on the string is a list with holes at its end cut off.
        out = []
        runs = {kind: [] for kind in range(97, 123)}
        for bead in beads.encode():
            while bead < 123:
                at = runs[bead]
                if not (out and out[-1] == bead):
                    at.append(len(out))
                out.append(bead)
                if len(out) - at[-1] < size:
                    break
                del out[at.pop() :]
                bead += 1
        return bytes(out).decode()
