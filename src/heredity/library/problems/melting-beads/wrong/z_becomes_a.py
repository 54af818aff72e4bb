class Solution:
    def strung(self, beads, size):
        kinds = []
        for bead in beads.encode():
            kinds.append(bead)
            while len(kinds) >= size and kinds[-size:].count(kinds[-1]) == size:
                bead = (kinds[-1] - 96) % 26 + 97
                del kinds[-size:]
                kinds.append(bead)
        return bytes(kinds).decode()
