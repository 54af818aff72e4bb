class Solution:
    def read(self, ring):
        def least(text):
            # The smallest suffix of the doubled text with a letter behind it that is larger than all.
            twice = text + text + "{"
            begin, ahead, same, period = -1, 0, 1, 1
            while ahead + same < len(twice):
                a, b = twice[ahead + same], twice[begin + same]
                if a > b:
                    ahead += same
                    same, period = 1, ahead - begin
                elif a == b:
                    if same == period:
                        ahead += period
                        same = 1
                    else:
                        same += 1
                else:
                    begin, ahead = ahead, ahead + 1
                    same = period = 1
            begin = (begin + 1) % len(text)
            return text[begin:] + text[:begin]

        return min(least(ring), least(ring[::-1]))
