class Solution:
    def ends(self, tree):
        found, first = [], tree
        if tree:
            tree.after = None
        while first:
            node, last, head, tail = first, None, None, None
            while node:
                last = node
                for child in (node.left, node.right):
                    if child:
                        child.after = None
                        if tail:
                            tail.after = child
                        else:
                            head = child
                        tail = child
                node = node.after
            found.append(first.val - last.val)
            first = head
        return found
