class Solution:
    def remaining(self, beads):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next
        at = 0
        while at + 1 < len(values):
            if values[at] + values[at + 1] == 0:
                del values[at : at + 2]
                at = 0
            else:
                at += 1
        first = None
        for value in reversed(values):
            first = ListNode(value, first)
        return first
