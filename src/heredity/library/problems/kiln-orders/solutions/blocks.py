from bisect import insort


class Solution:
    def fired(self, orders):
        # Blocks in descending order of hours, each ascending: the longest order is the last of the first block.
        blocks, total = [], 0
        for hours, due in sorted(orders, key=lambda order: order[1]):
            place = next((p for p, block in enumerate(blocks) if block[0] <= hours), len(blocks) - 1)
            if not blocks:
                blocks.append([hours])
            else:
                block = blocks[place]
                insort(block, hours)
                if len(block) > 400:
                    blocks[place : place + 1] = [block[200:], block[:200]]
            total += hours
            if total > due:
                total -= blocks[0].pop()
                if not blocks[0]:
                    del blocks[0]
        return [sum(map(len, blocks)), total]
