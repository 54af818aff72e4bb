from bisect import bisect_left


class Solution:
    def seated(self, count, wishes):
        chunks = [list(range(begin, min(begin + 300, count))) for begin in range(0, count, 300)]
        lasts, answer = [chunk[-1] for chunk in chunks], []
        for wish in wishes:
            number = bisect_left(lasts, wish)
            if number == len(chunks):
                number, wish = 0, 0
            chunk = chunks[number]
            answer.append(chunk.pop(bisect_left(chunk, wish)))
            if chunk:
                lasts[number] = chunk[-1]
            else:
                del chunks[number], lasts[number]
        return answer
