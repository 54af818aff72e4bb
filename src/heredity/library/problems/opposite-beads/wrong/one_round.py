class Solution:
    def remaining(self, beads):
        first = last = ListNode()
        while beads:
            if beads.next and beads.val + beads.next.val == 0:
                beads = beads.next.next
                continue
            last.next = last = beads
            beads = beads.next
        last.next = None
        return first.next
