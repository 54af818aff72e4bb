class Solution:
    def remaining(self, beads):
        stack = None
        while beads:
            stack = stack[1] if stack and stack[0] == -beads.val else (beads.val, stack)
            beads = beads.next
        first = None
        while stack:
            first, stack = ListNode(stack[0], first), stack[1]
        return first
