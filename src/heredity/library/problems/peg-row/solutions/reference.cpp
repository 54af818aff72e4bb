class Solution {
public:
    long long winningKnocks(vector<long long>& rows) {
        int high = *max_element(rows.begin(), rows.end());
        vector<int> values(high + 1), wins(high + 1, -1);
        for (int length = 2; length <= high; ++length) {
            vector<char> reached(1024);
            for (int size : {2, 3})
                for (int left = 0; left <= length - size; ++left) reached[values[left] ^ values[length - size - left]] = 1;
            while (reached[values[length]]) ++values[length];
        }
        int whole = 0;
        for (long long row : rows) whole ^= values[row];
        if (!whole) return 0;
        long long found = 0;
        for (long long row : rows) {
            if (wins[row] < 0) {
                wins[row] = 0;
                for (int size : {2, 3})
                    for (int left = 0; left <= row - size; ++left) wins[row] += (values[left] ^ values[row - size - left]) == (whole ^ values[row]);
            }
            found += wins[row];
        }
        return found;
    }
};
