class Solution:
    def ends(self, tree):
        def below(level):
            if not level:
                return []
            after = []
            for node in level:
                if node.left:
                    after.append(node.left)
                if node.right:
                    after.append(node.right)
            return [level[0].val - level[-1].val, *below(after)] if len(level) > 50 else more(level, after)

        def more(level, after):
            found = [level[0].val - level[-1].val]
            while after:
                found.append(after[0].val - after[-1].val)
                after = [c for node in after for c in (node.left, node.right) if c]
            return found

        return below([tree] if tree else [])
