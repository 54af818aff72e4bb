class Solution {
public:
    long long bestCargo(vector<long long>& weights, vector<long long>& values, long long capacity) {
        vector<long long> plain(capacity + 1), twin(capacity + 1);
        for (size_t i = 0; i < weights.size(); ++i)
            for (long long room = capacity, w = weights[i], v = values[i]; room >= w; --room) {
                twin[room] = max(twin[room], twin[room - w] + v);
                if (room >= 2 * w) twin[room] = max(twin[room], plain[room - 2 * w] + 2 * v);
                plain[room] = max(plain[room], plain[room - w] + v);
            }
        return max(plain[capacity], twin[capacity]);
    }
};
