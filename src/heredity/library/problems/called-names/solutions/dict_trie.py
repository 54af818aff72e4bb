class Solution:
    def answering(self, names, calls):
        root = {"": 0}
        for name in names:
            node = root
            node[""] += 1
            for letter in name:
                node = node.setdefault(letter, {"": 0})
                node[""] += 1
        found = []
        for call in calls:
            node = root
            for letter in call:
                node = node.get(letter)
                if node is None:
                    break
            found.append(node[""] if node else 0)
        return found
