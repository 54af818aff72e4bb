class Solution:
    def withView(self, houses, clear):
        stack = []
        for pair in enumerate(houses):
            while stack and stack[-1][1] - pair[1] < clear:
                stack.pop()
            stack.append(pair)
        return [place for place, _ in stack]
