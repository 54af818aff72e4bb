class Solution:
    def trios(self, boxes):
        total, pairs = 0, {}
        for i, box in enumerate(boxes):
            total += sum(count for common, count in pairs.items() if not common & box)
            for other in boxes[:i]:
                common = other & box
                pairs[common] = pairs.get(common, 0) + 1
        return total
