class Solution:
    def seated(self, count, wishes):
        # Free seats as bits of words, words with a free seat as bits of one number.
        words, answer = [(1 << 256) - 1] * (count // 256), []
        if count % 256:
            words.append((1 << count % 256) - 1)
        some = (1 << len(words)) - 1
        for wish in wishes:
            word, bit = divmod(wish, 256)
            rest = words[word] >> bit << bit
            if not rest:
                later = some >> word + 1 << word + 1 or some
                word = (later & -later).bit_length() - 1
                rest = words[word]
            low = rest & -rest
            words[word] ^= low
            if not words[word]:
                some ^= 1 << word
            answer.append(word * 256 + low.bit_length() - 1)
        return answer
