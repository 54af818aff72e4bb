class Solution:
    def leftover(self, sold, place):
        blocks = {}
        for number in sold:
            blocks.setdefault(number >> 12, set()).add(number)
        low = 0
        for block in sorted(blocks):
            start = block << 12
            place -= max(0, start - max(low, 1))
            if place <= 0:
                return start + place - 1
            low = start + 4096
            unsold = [n for n in range(max(start, 1), low) if n not in blocks[block]] if place <= 4096 else None
            count = 4096 - len(blocks[block]) - (block == 0)
            if place <= count:
                return unsold[place - 1]
            place -= count
        return max(low, 1) + place - 1
