class Solution:
    def higher(self, roofs):
        def nearest(order):
            stack, found = [], [-1] * len(roofs)
            for place in order:
                roof = roofs[place]
                while stack and roofs[stack[-1]] <= roof:
                    stack.pop()
                if stack:
                    found[place] = stack[-1]
                stack.append(place)
            return found

        left, right = nearest(range(len(roofs))), nearest(range(len(roofs) - 1, -1, -1))
        answer = []
        for place, (one, other) in enumerate(zip(left, right)):
            answer.append(other if one < 0 or other >= 0 and other - place < place - one else one)
        return answer
