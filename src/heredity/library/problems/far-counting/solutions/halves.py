class Solution:
    def difference(self, one, other, base):
        def digits(node):
            row = []
            while node:
                row.append(node.val)
                node = node.next
            return row

        powers = {}

        def power(count):
            if count not in powers:
                powers[count] = base if count == 1 else power(count // 2) * power(count - count // 2)
            return powers[count]

        def number(row):
            if len(row) <= 20:
                value = 0
                for digit in row:
                    value = value * base + digit
                return value
            low = 1 << ((len(row) - 1).bit_length() - 1)
            return number(row[:-low]) * power(low) + number(row[-low:])

        a, b = digits(one), digits(other)
        if len(a) > 3000 or len(b) > 3000:
            return by_digits(a, b, base)
        value, first = abs(number(a) - number(b)), None
        while value or not first:
            value, digit = divmod(value, base)
            first = ListNode(digit, first)
        return first


def by_digits(a, b, base):
    length = max(len(a), len(b))
    a, b = [0] * (length - len(a)) + a, [0] * (length - len(b)) + b
    a, b = max(a, b), min(a, b)
    first, owed = None, 0
    for at in range(length - 1, -1, -1):
        digit = a[at] - b[at] - owed
        owed = int(digit < 0)
        first = ListNode(digit + base * owed, first)
    while first.next and first.val == 0:
        first = first.next
    return first
