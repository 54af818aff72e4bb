class Node:
    __slots__ = ("below", "count")

    def __init__(self):
        self.below, self.count = {}, 0


class Solution:
    def answering(self, names, calls):
        root = Node()
        for name in names:
            node = root
            node.count += 1
            for letter in name:
                if letter not in node.below:
                    node.below[letter] = Node()
                node = node.below[letter]
                node.count += 1

        def count(call):
            node = root
            for letter in call:
                if letter not in node.below:
                    return 0
                node = node.below[letter]
            return node.count

        return list(map(count, calls))
