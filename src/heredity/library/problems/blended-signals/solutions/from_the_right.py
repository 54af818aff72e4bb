class Solution:
    def blends(self, signals):
        count = len(signals)
        following, total = [count] * 30, 0
        for place in range(count - 1, -1, -1):
            rest, signal = 0, signals[place]
            for lamp in range(30):
                if signal >> lamp & 1:
                    following[lamp] = place
                rest += count - following[lamp] << lamp
            total += rest
        return total
