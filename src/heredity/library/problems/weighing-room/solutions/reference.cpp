class WeighingRoom {
    vector<long long> history, ordered;

public:
    WeighingRoom() {}

    void add(long long weight) {
        history.push_back(weight);
        ordered.insert(lower_bound(ordered.begin(), ordered.end(), weight), weight);
    }

    void undo(long long count) {
        while (count-- && !history.empty()) {
            ordered.erase(lower_bound(ordered.begin(), ordered.end(), history.back()));
            history.pop_back();
        }
    }

    long long middle() { return ordered.empty() ? 0 : ordered[(ordered.size() - 1) / 2]; }
};
