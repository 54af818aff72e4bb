class Solution:
    def higher(self, roofs):
        def nearest(order):
            stack, found = [], {}
            for place in order:
                while stack and roofs[stack[-1]] <= roofs[place]:
                    stack.pop()
                found[place] = stack[-1] if stack else None
                stack.append(place)
            return found

        left, right = nearest(range(len(roofs))), nearest(range(len(roofs) - 1, -1, -1))
        answer = []
        for place in range(len(roofs)):
            both = [one for one in (right[place], left[place]) if one is not None]
            answer.append(min(both, key=lambda one: abs(one - place), default=-1))
        return answer
