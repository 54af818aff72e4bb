class Solution:
    def strung(self, beads, size):
        # Where the run that a bead belongs to begins.
        out, begin = [], []
        for bead in beads:
            code = ord(bead)
            while code <= 122:
                start = begin[-1] if out and out[-1] == code else len(out)
                if len(out) - start + 1 < size:
                    out.append(code)
                    begin.append(start)
                    break
                del out[start:], begin[start:]
                code += 1
        return "".join(map(chr, out))
