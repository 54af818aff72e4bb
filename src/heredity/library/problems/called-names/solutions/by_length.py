from collections import Counter


class Solution:
    def answering(self, names, calls):
        names = sorted(names, key=len, reverse=True)
        asked = {}
        for call in calls:
            asked.setdefault(len(call), set()).add(call)
        answer = {}
        for length, texts in asked.items():
            count = Counter()
            for name in names:
                if len(name) < length:
                    break
                count[name[:length]] += 1
            for text in texts:
                answer[text] = count[text]
        return [answer[call] for call in calls]
