class Solution:
    def answering(self, names, calls):
        found = [0] * len(calls)
        work = [(list(names), list(range(len(calls))), 0)]
        while work:
            group, asked, depth = work.pop()
            below, further = {}, {}
            for at in asked:
                if len(calls[at]) == depth:
                    found[at] = len(group)
                else:
                    further.setdefault(calls[at][depth], []).append(at)
            if not further:
                continue
            for name in group:
                if len(name) > depth and name[depth] in further:
                    below.setdefault(name[depth], []).append(name)
            work += [(below[c], further[c], depth + 1) for c in below]
        return found
