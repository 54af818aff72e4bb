class Solution:
    def steadiest(self, heights, sway):
        # A queue of two stacks that know their lowest and highest.
        front, back = [], []
        start, best = 0, [0, 0]
        blow = bhigh = None
        for place, height in enumerate(heights):
            back.append(height)
            blow = height if blow is None else min(blow, height)
            bhigh = height if bhigh is None else max(bhigh, height)
            while True:
                low = (
                    min(blow, front[-1][0])
                    if front and blow is not None
                    else blow
                    if blow is not None
                    else front[-1][0]
                )
                high = (
                    max(bhigh, front[-1][1])
                    if front and bhigh is not None
                    else bhigh
                    if bhigh is not None
                    else front[-1][1]
                )
                if high - low <= sway:
                    break
                if not front:
                    low = high = back[-1]
                    for one in reversed(back):
                        low, high = min(low, one), max(high, one)
                        front.append((low, high))
                    back, blow, bhigh = [], None, None
                front.pop()
                start += 1
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
