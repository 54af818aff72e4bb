class Solution:
    def leftover(self, sold, place):
        def merged(numbers):
            if len(numbers) < 2:
                return numbers
            half = len(numbers) // 2
            left, right = merged(numbers[:half]), merged(numbers[half:])
            out, i, j = [], 0, 0
            while i < len(left) or j < len(right):
                if j == len(right) or i < len(left) and left[i] <= right[j]:
                    number = left[i]
                    i += 1
                else:
                    number = right[j]
                    j += 1
                if not out or out[-1] != number:
                    out.append(number)
            return out

        for number in merged(sold):
            if number > place:
                break
            place += 1
        return place
