class Solution {
public:
    TreeNode* cut(TreeNode* tree, long long least) {
        vector<TreeNode*> order;
        if (tree) order.push_back(tree);
        for (size_t i = 0; i < order.size(); ++i)
            for (TreeNode* child : {order[i]->left, order[i]->right})
                if (child) order.push_back(child);
        unordered_map<TreeNode*, long long> sums;
        for (size_t i = order.size(); i-- > 0;) {
            TreeNode* node = order[i];
            long long total = node->val;
            for (TreeNode** side : {&node->left, &node->right}) {
                if (!*side) continue;
                if (sums[*side] < least)
                    *side = nullptr;
                else
                    total += sums[*side];
            }
            sums[node] = total;
        }
        return tree && sums[tree] >= least ? tree : nullptr;
    }
};
