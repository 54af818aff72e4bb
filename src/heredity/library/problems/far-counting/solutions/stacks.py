class Solution:
    def difference(self, one, other, base):
        stacks = []
        for node in (one, other):
            while node and not node.val:
                node = node.next
            stack = []
            while node:
                stack.append(node.val)
                node = node.next
            stacks.append(stack)
        stacks.sort(key=lambda stack: (len(stack), stack))
        small, large = stacks
        made, owed = [], 0
        while large:
            digit = large.pop() - (small.pop() if small else 0) - owed
            owed = digit < 0
            made.append(digit + base if owed else digit)
        while made and made[-1] == 0:
            made.pop()
        first = None
        for digit in made or [0]:
            first = ListNode(digit, first)
        return first
