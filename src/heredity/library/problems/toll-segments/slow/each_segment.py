class Solution:
    def payable(self, tolls, coin, least):
        answer = 0
        for start in range(len(tolls)):
            total = 0
            for stop in range(start, len(tolls)):
                total += tolls[stop]
                if stop - start + 1 >= least and total % coin == 0:
                    answer += 1
        return answer
