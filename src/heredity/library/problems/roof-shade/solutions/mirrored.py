class Solution:
    def higher(self, roofs):
        def to_the_left(row):
            stack, found = [], []
            for place, roof in enumerate(row):
                while stack and row[stack[-1]] <= roof:
                    stack.pop()
                found.append(place - stack[-1] if stack else 10**9)
                stack.append(place)
            return found

        left = to_the_left(roofs)
        right = to_the_left(roofs[::-1])[::-1]
        answer = []
        for place, (one, other) in enumerate(zip(left, right)):
            away = min(one, other)
            answer.append(-1 if away == 10**9 else place - one if one == away else place + other)
        return answer
