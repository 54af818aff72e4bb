class Solution:
    def leftover(self, sold, place):
        # No answer lies more than len(sold) beyond place.
        count = len(sold)
        edge = place + count
        near = sorted({number for number in sold if number <= edge})
        low = 0
        while low < len(near) and near[low] <= place + low:
            low += 1
        return place + low
