class Solution:
    def loudest(self, calls):
        root, best, most = {}, "", 0
        for call in calls:
            node = root
            for letter in call:
                node = node.setdefault(letter, {})
            node["#"] = node.get("#", 0) + 1
            if node["#"] > most:
                best, most = call, node["#"]
        return best
