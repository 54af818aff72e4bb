class Solution {
    long long base, memory[17][11][20];
    long long endings(int length, int last, int rest) {
        if (!length) return rest == 0;
        long long& known = memory[length][last][rest];
        if (known < 0) {
            known = 0;
            for (int d = 0; d < 10; ++d)
                if (d != last) known += endings(length - 1, d, (rest + d) % base);
        }
        return known;
    }
    long long below(long long number) {
        string text = to_string(number);
        int size = text.size(), last = 10, rest = 0;
        long long total = 0;
        for (int length = 1; length < size; ++length)
            for (int d = 1; d < 10; ++d) total += endings(length - 1, d, d % base);
        for (int place = 0; place < size; ++place) {
            int top = text[place] - '0';
            for (int d = place == 0; d < top; ++d)
                if (d != last) total += endings(size - place - 1, d, (rest + d) % base);
            if (top == last) break;
            last = top, rest += top;
        }
        return total;
    }
public:
    long long quietPlates(long long low, long long high, long long base) {
        this->base = base;
        memset(memory, -1, sizeof memory);
        return below(high + 1) - below(low);
    }
};
