class Solution {
    int size;
    vector<int> free_squares;
    long long ways(int row, int columns, int left, int right) {
        if (row == size) return 1;
        long long total = 0;
        for (int squares = free_squares[row] & ~(columns | left | right); squares; squares &= squares - 1) {
            int bit = squares & -squares;
            total += ways(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        }
        return total;
    }
public:
    long long waysToSeal(long long size, vector<vector<long long>>& worn) {
        this->size = size;
        free_squares.assign(size, (1 << size) - 1);
        for (auto& square : worn) free_squares[square[0]] &= ~(1 << square[1]);
        return ways(0, 0, 0, 0);
    }
};
