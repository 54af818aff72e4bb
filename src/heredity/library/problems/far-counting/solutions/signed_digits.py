class Solution:
    def difference(self, one, other, base):
        rows = []
        for node in (one, other):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            rows.append(row[::-1])
        length = max(map(len, rows))
        row = [0] * length
        for sign, digits in zip((1, -1), rows):
            for at, digit in enumerate(digits):
                row[at] += sign * digit
        while len(row) > 1 and row[-1] == 0:
            row.pop()
        if row[-1] < 0:
            row = [-digit for digit in row]
        for at in range(len(row) - 1):
            if row[at] < 0:
                row[at] += base
                row[at + 1] -= 1
        while len(row) > 1 and row[-1] == 0:
            row.pop()
        first = None
        for digit in row:
            first = ListNode(digit, first)
        return first
