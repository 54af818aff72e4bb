class Solution:
    def restrung(self, beads, step):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next
        taken = values[step - 1 :: step]
        del values[step - 1 :: step]
        first = None
        for value in taken:
            first = ListNode(value, first)
        chain = first
        for value in reversed(values):
            chain = ListNode(value, chain)
        return chain
