class Solution {
public:
    vector<long long> higher(vector<long long>& roofs) {
        long long count = (long long)roofs.size();
        vector<long long> left(count), answer(count), stack;
        for (long long i = 0; i < count; ++i) {
            while (!stack.empty() && roofs[stack.back()] <= roofs[i]) stack.pop_back();
            left[i] = stack.empty() ? -1 : stack.back();
            stack.push_back(i);
        }
        stack.clear();
        for (long long i = count - 1; i >= 0; --i) {
            while (!stack.empty() && roofs[stack.back()] <= roofs[i]) stack.pop_back();
            answer[i] = left[i];
            if (!stack.empty() && (left[i] < 0 || stack.back() - i < i - left[i])) answer[i] = stack.back();
            stack.push_back(i);
        }
        return answer;
    }
};
