class Solution:
    def withView(self, houses, clear):
        stack = []
        for place, house in enumerate(houses):
            while stack and houses[stack[-1]] < house + clear:
                stack.pop()
            stack.append(place)
        return stack
