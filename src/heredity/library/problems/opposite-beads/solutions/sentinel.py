class Solution:
    def remaining(self, beads):
        stack = [10**10]
        push, pop = stack.append, stack.pop
        while beads:
            value = beads.val
            if stack[-1] + value:
                push(value)
            else:
                pop()
            beads = beads.next
        first = None
        for value in reversed(stack[1:]):
            first = ListNode(value, first)
        return first
