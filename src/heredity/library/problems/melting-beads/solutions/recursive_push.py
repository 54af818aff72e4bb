class Solution:
    def strung(self, beads, size):
        stack = []

        def push(bead):
            if bead > "z":
                return
            if stack and stack[-1][0] == bead:
                stack[-1] = bead, stack[-1][1] + 1
            else:
                stack.append((bead, 1))
            if stack[-1][1] == size:
                stack.pop()
                push(chr(ord(bead) + 1))

        for bead in beads:
            push(bead)
        return "".join(bead * count for bead, count in stack)
