class Solution:
    def steadiest(self, heights, sway):
        low, high, a, b, start = [], [], 0, 0, 0
        best = [0, 0]
        for place, height in enumerate(heights):
            while len(low) > a and heights[low[-1]] >= height:
                low.pop()
            while len(high) > b and heights[high[-1]] <= height:
                high.pop()
            low.append(place)
            high.append(place)
            while heights[high[b]] - heights[low[a]] > sway:
                start += 1
                a += low[a] < start
                b += high[b] < start
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
