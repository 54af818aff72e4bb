class Solution:
    def higher(self, roofs):
        # Ranges that one highest roof splits; of equal ones the border is handed down.
        count = len(roofs)
        parent_left, parent_right = [-1] * count, [-1] * count
        stack = []
        for place in range(count):
            last = -1
            while stack and roofs[stack[-1]] < roofs[place]:
                last = stack.pop()
                parent_right[last] = place
            stack.append(place)
        stack = []
        for place in range(count - 1, -1, -1):
            while stack and roofs[stack[-1]] < roofs[place]:
                parent_left[stack.pop()] = place
            stack.append(place)
        answer = []
        for place in range(count):
            left, right = parent_left[place], parent_right[place]
            if left < 0 or right < 0:
                answer.append(max(left, right))
            else:
                answer.append(left if place - left <= right - place else right)
        return answer
