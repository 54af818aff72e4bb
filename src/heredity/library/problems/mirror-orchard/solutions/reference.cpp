class Solution {
public:
    TreeNode* mirrored(TreeNode* tree, long long every) {
        vector<TreeNode*> level;
        if (tree) level.push_back(tree);
        for (long long depth = 0; !level.empty(); ++depth) {
            vector<TreeNode*> next;
            for (TreeNode* node : level) {
                if (depth % every == 0) swap(node->left, node->right);
                if (node->left) next.push_back(node->left);
                if (node->right) next.push_back(node->right);
            }
            level.swap(next);
        }
        return tree;
    }
};
