class Solution:
    def loudest(self, calls):
        rest = calls
        while rest:
            seen, again = set(), []
            for call in rest:
                if call in seen:
                    again.append(call)
                seen.add(call)
            if not again:
                return rest[0]
            if len(again) > len(rest) - 4:
                break
            rest = again
        heard = {}
        best, most = "", 0
        for call in rest:
            heard[call] = heard.get(call, 0) + 1
            if heard[call] > most:
                best, most = call, heard[call]
        return best
