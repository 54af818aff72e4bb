class Solution:
    def restrung(self, beads, step):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next
        kept = [value for at, value in enumerate(values, 1) if at % step]
        taken = [value for at, value in enumerate(values, 1) if at % step == 0]
        first = None
        for value in reversed(kept + taken[::-1]):
            first = ListNode(value, first)
        return first
