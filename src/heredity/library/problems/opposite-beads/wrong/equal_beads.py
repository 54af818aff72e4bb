class Solution:
    def remaining(self, beads):
        kept = []
        while beads:
            if kept and abs(kept[-1]) == abs(beads.val):
                kept.pop()
            else:
                kept.append(beads.val)
            beads = beads.next
        first = None
        for value in reversed(kept):
            first = ListNode(value, first)
        return first
