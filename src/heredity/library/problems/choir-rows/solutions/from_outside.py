class Solution:
    def lineUp(self, names, heights):
        # From the smallest on: they stand at the ends, so the row is filled inwards.
        order = sorted(zip(heights, [tuple(-ord(letter) for letter in name) + (1,) for name in names], names))
        row = [""] * len(order)
        low, high = 0, len(order) - 1
        for step, (_, _, name) in zip(range(len(order) - 1, -1, -1), order):
            if step % 2:
                row[low] = name
                low += 1
            else:
                row[high] = name
                high -= 1
        return row
