class Solution:
    def restrung(self, beads, step):
        first, count, bead = ListNode(0, beads), 0, beads
        while bead:
            count, bead = count + 1, bead.next
        for place in range(count // step * step, 0, -step):
            before = first
            for _ in range(place - 1):
                before = before.next
            bead = before.next
            before.next = bead.next
            last = before
            while last.next:
                last = last.next
            last.next, bead.next = bead, None
        return first.next
