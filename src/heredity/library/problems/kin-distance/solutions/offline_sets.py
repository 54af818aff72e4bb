class Solution:
    def steps(self, tree, pairs):
        asked, depth, found = {}, {}, [0] * len(pairs)
        for number, (a, b) in enumerate(pairs):
            asked.setdefault(a, []).append((b, number))
            asked.setdefault(b, []).append((a, number))
        above, done = {}, set()

        def find(a):
            while above[a] != a:
                above[a] = above[above[a]]
                a = above[a]
            return a

        stack = [(tree, None, 0)]
        while stack:
            node, up, level = stack.pop()
            a = node.val
            if a not in depth:
                depth[a], above[a] = level, a
                stack.append((node, up, level))
                stack += [(child, a, level + 1) for child in (node.left, node.right) if child]
                continue
            done.add(a)
            for b, number in asked.get(a, ()):
                if b in done:
                    found[number] = depth[a] + depth[b] - 2 * depth[find(b)]
            if up is not None:
                above[a] = up
        return found
