class Solution:
    def kthGap(self, high, low, rank):
        high.sort()
        low.sort()
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            count = first = last = 0
            for bell in high:
                while last < len(low) and low[last] <= bell + middle:
                    last += 1
                while first < len(low) and low[first] < bell - middle:
                    first += 1
                count += last - first
            if count >= rank:
                most = middle
            else:
                least = middle + 1
        return least
