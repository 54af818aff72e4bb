class Solution:
    def strung(self, beads, size):
        out = bytearray()
        tails = {kind: bytes([kind]) * size for kind in range(97, 123)}
        for bead in beads.encode():
            out.append(bead)
            while len(out) >= size and out[-1] == out[-size] and out.endswith(tails[out[-1]]):
                last = out[-1]
                del out[-size:]
                if last < 122:
                    out.append(last + 1)
        return out.decode()
