from collections import deque


class Solution:
    def strung(self, beads, size):
        chain = deque()
        for letter in beads:
            bead = letter
            while True:
                count = chain.pop()[1] + 1 if chain and chain[-1][0] == bead else 1
                if count < size:
                    chain.append((bead, count))
                    break
                if bead == "z":
                    break
                bead = chr(ord(bead) + 1)
        return "".join(bead * count for bead, count in chain)
