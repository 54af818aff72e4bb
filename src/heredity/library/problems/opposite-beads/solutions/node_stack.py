class Solution:
    def remaining(self, beads):
        stack = [ListNode()]
        while beads:
            after = beads.next
            if len(stack) > 1 and stack[-1].val + beads.val == 0:
                stack.pop()
            else:
                stack[-1].next = beads
                stack.append(beads)
            stack[-1].next = None
            beads = after
        return stack[0].next
