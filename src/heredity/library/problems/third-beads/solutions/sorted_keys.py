class Solution:
    def restrung(self, beads, step):
        rows, at = [], 0
        while beads:
            at += 1
            rows.append(((0, at) if at % step else (1, -at), beads.val))
            beads = beads.next
        rows.sort()
        first = last = ListNode()
        for _, value in rows:
            last.next = ListNode(value)
            last = last.next
        return first.next
