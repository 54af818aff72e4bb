class Solution:
    def lineUp(self, names, heights):
        count = len(names)
        row = [""] * count
        place = count // 2
        order = sorted(range(count), key=lambda singer: (-heights[singer], names[singer]))
        for step, singer in enumerate(order):
            place += step if step % 2 == 0 else -step
            row[place] = names[singer]
        return row
