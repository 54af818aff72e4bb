class Solution:
    def trios(self, boxes):
        count = len(boxes)
        total = count * (count - 1) * (count - 2) // 6
        for tool in range(15):
            some = sum(box >> tool & 1 for box in boxes)
            total -= some * (some - 1) * (some - 2) // 6
        return total
