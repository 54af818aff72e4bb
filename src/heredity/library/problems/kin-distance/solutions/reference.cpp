class Solution {
public:
    vector<long long> steps(TreeNode* tree, vector<vector<long long>>& pairs) {
        unordered_map<long long, int> name;
        vector<TreeNode*> nodes{tree};
        vector<int> up{-1}, depth{0};
        for (size_t at = 0; at < nodes.size(); ++at) {
            name[nodes[at]->val] = int(at);
            for (TreeNode* child : {nodes[at]->left, nodes[at]->right})
                if (child) {
                    nodes.push_back(child);
                    up.push_back(int(at));
                    depth.push_back(depth[at] + 1);
                }
        }
        int count = int(nodes.size());
        vector<int> size(count, 1), heavy(count, -1), top(count);
        for (int at = count - 1; at > 0; --at) {
            size[up[at]] += size[at];
            if (heavy[up[at]] < 0 || size[at] > size[heavy[up[at]]]) heavy[up[at]] = at;
        }
        for (int at = 0; at < count; ++at) top[at] = at && heavy[up[at]] == at ? top[up[at]] : at;
        vector<long long> found;
        for (auto& pair : pairs) {
            int a = name[pair[0]], b = name[pair[1]], length = depth[a] + depth[b];
            while (top[a] != top[b]) {
                if (depth[top[a]] < depth[top[b]]) swap(a, b);
                a = up[top[a]];
            }
            found.push_back(length - 2 * min(depth[a], depth[b]));
        }
        return found;
    }
};
