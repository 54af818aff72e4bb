class Solution:
    def strung(self, beads, size):
        # Each bead keeps how many of its kind end with it.
        out, run = [], []
        for bead in beads.encode():
            while bead < 123:
                length = run[-1] + 1 if out and out[-1] == bead else 1
                if length < size:
                    out.append(bead)
                    run.append(length)
                    break
                if size > 1:
                    del out[len(out) - size + 1 :], run[len(run) - size + 1 :]
                bead += 1
        return bytes(out).decode()
