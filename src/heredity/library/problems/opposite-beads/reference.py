class Solution:
    def remaining(self, beads):
        kept = []
        while beads:
            if kept and kept[-1] == -beads.val:
                kept.pop()
            else:
                kept.append(beads.val)
            beads = beads.next
        first = None
        while kept:
            first = ListNode(kept.pop(), first)
        return first
