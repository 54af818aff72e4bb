class Solution:
    def remaining(self, beads):
        values = []
        while beads:
            values.append(beads.val)
            beads = beads.next

        def reduced(low, high):
            if high - low <= 1:
                return values[low:high]
            middle = (low + high) // 2
            left, right = reduced(low, middle), reduced(middle, high)
            same = 0
            while same < min(len(left), len(right)) and left[-1 - same] + right[same] == 0:
                same += 1
            return left[: len(left) - same] + right[same:]

        first = None
        for value in reversed(reduced(0, len(values))):
            first = ListNode(value, first)
        return first
