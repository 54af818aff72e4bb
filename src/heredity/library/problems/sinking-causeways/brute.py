class Solution:
    def reachable(self, count, causeways, events):
        there, answers = dict(enumerate(causeways)), []
        for kind, i in events:
            if kind == 0:
                there.pop(i, None)
                continue
            reached = {i}
            for _ in range(count):
                for a, b in there.values():
                    if a in reached or b in reached:
                        reached |= {a, b}
            answers.append(len(reached))
        return answers
