class WeighingRoom {
    vector<long long> history;
    set<long long> ordered;

public:
    WeighingRoom() {}

    void add(long long weight) {
        history.push_back(weight);
        ordered.insert(weight);
    }

    void undo(long long count) {
        while (count-- && !history.empty()) {
            ordered.erase(history.back());
            history.pop_back();
        }
    }

    long long middle() {
        if (ordered.empty()) return 0;
        return *next(ordered.begin(), (ordered.size() - 1) / 2);
    }
};
