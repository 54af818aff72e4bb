class Solution:
    def strung(self, beads, size):
        pending = list(reversed(beads))
        stack = []
        while pending:
            bead = pending.pop()
            if stack and stack[-1][0] == bead:
                stack[-1][1] += 1
            else:
                stack.append([bead, 1])
            if stack[-1][1] == size:
                stack.pop()
                if bead != "z":
                    pending.append(chr(ord(bead) + 1))
        return "".join(bead * count for bead, count in stack)
