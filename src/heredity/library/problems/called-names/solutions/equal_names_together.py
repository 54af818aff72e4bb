from collections import Counter


class Solution:
    def answering(self, names, calls):
        root = [0, {}]
        for name, goats in Counter(names).items():
            node = root
            node[0] += goats
            for letter in name:
                node = node[1].setdefault(letter, [0, {}])
                node[0] += goats
        known = {}
        for call in set(calls):
            node = root
            for letter in call:
                node = node[1].get(letter, [0, {}])
            known[call] = node[0]
        return [known[call] for call in calls]
