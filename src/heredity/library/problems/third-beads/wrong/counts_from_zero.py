class Solution:
    def restrung(self, beads, step):
        kept, taken, at = [], [], 0
        while beads:
            (taken if at % step == 0 else kept).append(beads.val)
            beads = beads.next
            at += 1
        first = None
        for value in taken + kept[::-1]:
            first = ListNode(value, first)
        return first
