class Solution:
    def remaining(self, beads):
        values, bead = [], beads
        while bead:
            values.append(bead.val)
            bead = bead.next
        top = 0
        for value in values:
            if top and values[top - 1] + value == 0:
                top -= 1
            else:
                values[top] = value
                top += 1
        first = None
        for value in values[top - 1 :: -1] if top else []:
            first = ListNode(value, first)
        return first
