class Solution:
    def leftover(self, sold, place):
        gone = set(sold)
        low, high = 1, place + len(gone)
        while low < high:
            middle = (low + high) // 2
            if middle - sum(number <= middle for number in gone) >= place:
                high = middle
            else:
                low = middle + 1
        return low
