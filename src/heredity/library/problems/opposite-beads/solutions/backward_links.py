class Solution:
    def remaining(self, beads):
        kept = None
        while beads:
            after = beads.next
            if kept and kept.val == -beads.val:
                kept = kept.next
            else:
                beads.next, kept = kept, beads
            beads = after
        first = None
        while kept:
            after = kept.next
            kept.next, first = first, kept
            kept = after
        return first
