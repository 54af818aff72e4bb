class Solution:
    def shortest(self, flows, goal):
        count = len(flows)
        for length in range(1, count + 1):
            for start in range(count - length + 1):
                if sum(flows[start : start + length]) >= goal:
                    return [start, length]
        return []
