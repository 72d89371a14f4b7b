/* text/pipeline/model_trie.c: how the trie of a model's tokens grows; how it is read is in pipeline_model.h. For Unigram and
 * WordPiece. */
#include "text/pipeline/pipeline_model.h"

bool model_trie_add(pipeline_model *m, const char *token, size_t size, int32_t id)
{
    pair_merge node = MODEL_TRIE_ROOT;
    for (size_t i = 0; i < size; i++) {
        pair_merge next = model_trie_next(m, node, token[i]);
        if (next.rank == PAIR_NEVER) {
            next = (pair_merge){MODEL_NO_TOKEN, (int32_t)m->pairs.size + 1};
            if (m->pairs.size >= INT32_MAX - 1 || !pair_table_put(&m->pairs, node.id, (unsigned char)token[i], next))
                return false;
        }
        if (i + 1 == size)
            pair_table_slot(&m->pairs, pair_key(node.id, (unsigned char)token[i]))->merge.rank = (uint32_t)id;
        node = next;
    }
    return true;
}
