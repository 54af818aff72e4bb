class Solution:
    def remaining(self, beads):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next
        first, count = None, 0
        for value in reversed(values):
            if first is not None and first.val == -value:
                first = first.next
            else:
                first = ListNode(value, first)
        return first
