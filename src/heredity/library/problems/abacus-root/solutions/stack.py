class Solution:
    def abacusRoot(self, digits, base):
        stack = list(digits)
        while len(stack) > 1:
            high, low = divmod(stack.pop() + stack.pop(), base)
            stack.append(high + low)
        return stack[0]
