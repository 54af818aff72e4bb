class Solution {
public:
    long long slabs(vector<string>& yard) {
        int rows = int(yard.size()), columns = int(yard[0].size());
        vector<int> partner(rows * columns, -1);
        const int dr[] = {-1, 1, 0, 0}, dc[] = {0, 0, -1, 1};
        long long found = 0;
        for (int start = 0; start < rows * columns; ++start) {
            int r = start / columns, c = start % columns;
            if ((r + c) % 2 || yard[r][c] == '#') continue;
            vector<int> before(rows * columns, -2), queue{start};
            before[start] = -1;
            int end = -1;
            for (size_t i = 0; i < queue.size() && end < 0; ++i) {
                int field = queue[i];
                for (int k = 0; k < 4; ++k) {
                    int a = field / columns + dr[k], b = field % columns + dc[k], other = a * columns + b;
                    if (a < 0 || b < 0 || a >= rows || b >= columns || yard[a][b] == '#' || before[other] != -2) continue;
                    before[other] = field;
                    if (partner[other] < 0) {
                        end = other;
                        break;
                    }
                    before[partner[other]] = other;
                    queue.push_back(partner[other]);
                }
            }
            if (end < 0) continue;
            ++found;
            while (end >= 0) {
                int field = before[end];
                partner[end] = field;
                partner[field] = end;
                end = before[field];
            }
        }
        return found;
    }
};
