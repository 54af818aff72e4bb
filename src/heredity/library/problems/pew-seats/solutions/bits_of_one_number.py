class Solution:
    def seated(self, count, wishes):
        free, answer = (1 << count) - 1, []
        for wish in wishes:
            rest = free >> wish
            if rest:
                seat = wish + (rest & -rest).bit_length() - 1
            else:
                seat = (free & -free).bit_length() - 1
            free ^= 1 << seat
            answer.append(seat)
        return answer
