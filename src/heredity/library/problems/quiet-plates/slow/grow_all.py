class Solution:
    def quietPlates(self, low, high, base):
        found, stack = 0, [(d, d, d) for d in range(1, 10)]
        while stack:
            number, last, total = stack.pop()
            if number > high:
                continue
            found += number >= low and total % base == 0
            stack += [(number * 10 + d, d, total + d) for d in range(10) if d != last]
        return found
