class Solution:
    def higher(self, roofs):
        answer, stack = [-1] * len(roofs), []
        for place, roof in enumerate(roofs):
            while stack and roofs[stack[-1]] <= roof:
                low = stack.pop()
                if answer[low] < 0 and roofs[low] < roof:
                    answer[low] = place
            if stack:
                answer[place] = stack[-1]
            stack.append(place)
        return answer
