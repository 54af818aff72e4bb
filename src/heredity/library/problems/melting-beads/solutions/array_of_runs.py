class Solution:
    def strung(self, beads, size):
        count = len(beads)
        kind, length, top = [0] * (count + 1), [0] * (count + 1), 0
        for letter in beads:
            bead = ord(letter)
            while bead <= 122:
                if kind[top] == bead and top:
                    length[top] += 1
                else:
                    top += 1
                    kind[top], length[top] = bead, 1
                if length[top] < size:
                    break
                top -= 1
                bead += 1
        return "".join(chr(kind[place]) * length[place] for place in range(1, top + 1))
