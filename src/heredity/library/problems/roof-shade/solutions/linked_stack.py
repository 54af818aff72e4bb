class Solution:
    def higher(self, roofs):
        def higher(order):
            top, found = None, [None] * len(roofs)
            for place in order:
                while top and top[0] <= roofs[place]:
                    top = top[2]
                found[place] = top
                top = (roofs[place], place, top)
            return found

        answer = []
        left, right = higher(range(len(roofs))), higher(reversed(range(len(roofs))))
        for place in range(len(roofs)):
            options = [(abs(node[1] - place), node[1]) for node in (left[place], right[place]) if node]
            answer.append(min(options)[1] if options else -1)
        return answer
