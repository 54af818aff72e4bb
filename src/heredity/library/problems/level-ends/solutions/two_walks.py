class Solution:
    def ends(self, tree):
        def side(ways):
            seen, stack = [], [(tree, 0)]
            while stack:
                node, depth = stack.pop()
                if not node:
                    continue
                if depth == len(seen):
                    seen.append(node.val)
                for way in ways:
                    stack.append((getattr(node, way), depth + 1))
            return seen

        left, right = side(("right", "left")), side(("left", "right"))
        return [a - b for a, b in zip(left, right)]
