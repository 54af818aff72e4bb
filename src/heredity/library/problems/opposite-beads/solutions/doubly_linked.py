class Solution:
    def remaining(self, beads):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next
        count = len(values)
        left, right = list(range(-1, count)), list(range(1, count + 2))
        start, at = 0, 0
        while at < count and count:
            b = right[at]
            if b < count and values[at] + values[b] == 0:
                a, c = left[at], right[b]
                if a < 0:
                    start, at = c, c
                else:
                    right[a], at = c, a
                left[c] = a
            else:
                at = b
        made = last = ListNode()
        while start < count:
            last.next = ListNode(values[start])
            last, start = last.next, right[start]
        return made.next
