from bisect import bisect_left, insort


class Solution:
    def crossings(self, pegs, reach):
        blocks, total = [], 0
        for peg in pegs:
            wanted = peg + reach
            for block in reversed(blocks):
                if block[0] >= wanted:
                    total += len(block)
                else:
                    total += len(block) - bisect_left(block, wanted)
                    break
            if not blocks:
                blocks.append([peg])
                continue
            place = bisect_left(blocks, peg, key=lambda block: block[-1])
            block = blocks[min(place, len(blocks) - 1)]
            insort(block, peg)
            if len(block) > 2000:
                place = min(place, len(blocks) - 1)
                blocks[place : place + 1] = [block[:1000], block[1000:]]
        return total
