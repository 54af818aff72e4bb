class Solution:
    def firstFault(self, walk):
        codes = walk.encode()
        shuts = {41: 40, 93: 91, 125: 123, 42: 42}
        open_ = bytearray(len(codes) + 1)
        depth = 0
        for place, code in enumerate(codes):
            opener = shuts.get(code)
            if opener and open_[depth] == opener:
                depth -= 1
            elif opener and code != 42:
                return place
            else:
                depth += 1
                open_[depth] = code
        return len(codes) if depth else -1
