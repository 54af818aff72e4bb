class Solution:
    def answering(self, names, calls):
        after, count = [0] * 26, [len(names)]
        for name in names:
            node = 0
            for code in name.encode():
                place = node * 26 + code - 97
                if not after[place]:
                    after[place] = len(count)
                    count.append(0)
                    after += [0] * 26
                node = after[place]
                count[node] += 1
        found = []
        for call in calls:
            node = 0
            for code in call.encode():
                node = after[node * 26 + code - 97]
                if not node:
                    break
            found.append(count[node] if node or not call else 0)
        return found
