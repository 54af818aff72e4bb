class Solution {
public:
    long long proud(TreeNode* tree) {
        vector<TreeNode*> order;
        if (tree) order.push_back(tree);
        for (size_t i = 0; i < order.size(); ++i) {
            if (order[i]->left) order.push_back(order[i]->left);
            if (order[i]->right) order.push_back(order[i]->right);
        }
        unordered_map<TreeNode*, long long> sums;
        sums[nullptr] = 0;
        long long count = 0;
        for (size_t i = order.size(); i-- > 0;) {
            long long below = sums[order[i]->left] + sums[order[i]->right];
            count += order[i]->val > below;
            sums[order[i]] = below + order[i]->val;
        }
        return count;
    }
};
