class Solution:
    def answering(self, names, calls):
        after, count = {}, [0]
        for name in names:
            node = 0
            count[0] += 1
            for letter in name:
                key = (node, letter)
                if key not in after:
                    after[key] = len(count)
                    count.append(0)
                node = after[key]
                count[node] += 1
        found = []
        for call in calls:
            node = 0
            for letter in call:
                node = after.get((node, letter), -1)
                if node < 0:
                    break
            found.append(count[node] if node >= 0 else 0)
        return found
