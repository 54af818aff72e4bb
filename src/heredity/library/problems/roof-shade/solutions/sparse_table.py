class Solution:
    def higher(self, roofs):
        count = len(roofs)
        highest, width = [roofs], 1
        while 2 * width <= count:
            highest.append(list(map(max, highest[-1], highest[-1][width:])))
            width *= 2
        answer = []
        for place, roof in enumerate(roofs):
            right, left = place + 1, place
            for level in range(len(highest) - 1, -1, -1):
                width = 1 << level
                if right + width <= count and highest[level][right] <= roof:
                    right += width
                if left >= width and highest[level][left - width] <= roof:
                    left -= width
            left -= 1
            answer.append(
                -1
                if left < 0 and right == count
                else left
                if right == count or 0 <= left and place - left <= right - place
                else right
            )
        return answer
