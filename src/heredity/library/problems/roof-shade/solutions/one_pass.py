class Solution:
    def higher(self, roofs):
        count = len(roofs)
        left, right, stack = [-1] * count, [-1] * count, []
        for place, roof in enumerate(roofs):
            while stack and roofs[stack[-1]] < roof:
                right[stack.pop()] = place
            if stack:
                left[place] = left[stack[-1]] if roofs[stack[-1]] == roof else stack[-1]
            stack.append(place)
        return [b if a < 0 or 0 <= b and b - i < i - a else a for i, (a, b) in enumerate(zip(left, right))]
