class Solution:
    def ends(self, tree):
        found, left, right = [], tree, tree
        while left and right:
            found.append(left.val - right.val)
            left, right = left.left or left.right, right.right or right.left
        return found
