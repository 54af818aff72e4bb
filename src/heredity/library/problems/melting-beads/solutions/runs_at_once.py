from itertools import groupby


class Solution:
    def strung(self, beads, size):
        # A run of equal beads is put on in one go: whole lots of it melt away, whatever lies below.
        stack = []

        def put(kind, count):
            while count and kind <= 122:
                if stack and stack[-1][0] == kind:
                    room = size - stack[-1][1]
                    if count < room:
                        stack[-1][1] += count
                        return
                    stack.pop()
                    put(kind + 1, 1)
                    count -= room
                elif count < size:
                    stack.append([kind, count])
                    return
                else:
                    put(kind + 1, 1)
                    count -= size

        for kind, run in groupby(beads.encode()):
            put(kind, len(list(run)))
        return "".join(chr(kind) * count for kind, count in stack)
