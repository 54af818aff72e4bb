class Solution {
public:
    long long bestCargo(vector<long long>& weights, vector<long long>& values, long long capacity) {
        vector<int> plain(capacity + 1), twin(capacity + 1);
        for (size_t i = 0; i < weights.size(); ++i)
            for (int room = capacity; room >= weights[i]; --room) {
                int w = weights[i];
                unsigned v = unsigned(values[i]);
                twin[room] = max(twin[room], int(unsigned(twin[room - w]) + v));
                if (room >= 2 * w) twin[room] = max(twin[room], int(unsigned(plain[room - 2 * w]) + 2 * v));
                plain[room] = max(plain[room], int(unsigned(plain[room - w]) + v));
            }
        return max(plain[capacity], twin[capacity]);
    }
};
