class Solution:
    def restrung(self, beads, step):
        kept, taken, at = [], [], 0
        while beads:
            at += 1
            (taken if at % step == 0 else kept).append(beads.val)
            beads = beads.next
        first = None
        for value in reversed(kept + taken):
            first = ListNode(value, first)
        return first
