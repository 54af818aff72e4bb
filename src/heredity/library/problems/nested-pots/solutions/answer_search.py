class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        count = len(sizes)
        low, high = 0, count // 2
        while low < high:
            middle = (low + high + 1) // 2
            if all(sizes[i] + gap <= sizes[count - middle + i] for i in range(middle)):
                low = middle
            else:
                high = middle - 1
        return count - low
