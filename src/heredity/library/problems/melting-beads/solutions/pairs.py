class Solution:
    def strung(self, beads, size):
        stack = [["", 0]]
        for bead in beads:
            while bead:
                if stack[-1][0] != bead:
                    stack.append([bead, 0])
                stack[-1][1] += 1
                if stack[-1][1] < size:
                    break
                stack.pop()
                bead = chr(ord(bead) + 1) if bead < "z" else ""
        return "".join(bead * count for bead, count in stack)
