/* io/config_block.c: words and checks of the blocks and positions of a configuration. */
#include "io/config_block.h"

#include "base/rows.h"
#include "nn/block.h"

#define FREE_TABLE 134217728.0 /* bytes: a table of angles up to this size is accepted for any model */

const char *const CONFIG_NORM_PLACES[] = {"post", "pre", NULL};
const char *const CONFIG_NORM_KINDS[] = {"layer", "rms", NULL};
const char *const CONFIG_FFN_KINDS[] = {"relu", "gelu", "gelu_tanh", "swiglu", "silu", NULL};
const char *const CONFIG_POSITIONS[] = {"sinusoidal", "learned", "rotary", "none", "alibi", NULL};
const char *const CONFIG_INITS[] = {"xavier", "pytorch", "gpt2", NULL};

/* A kind that is added has a word here, unless config_block_check_ours refuses it. Each table ends with NULL. */
#define HAS_WORDS(words, LIST, refused) ROWS_FIT(words, LIST, (refused) - 1)
HAS_WORDS(CONFIG_NORM_PLACES, RAPT_NORM_PLACES, 2);   /* the output's, and both */
HAS_WORDS(CONFIG_NORM_KINDS, RAPT_NORM_KINDS, 0);
HAS_WORDS(CONFIG_FFN_KINDS, RAPT_FFN_KINDS, 1);       /* GEGLU */
HAS_WORDS(CONFIG_POSITIONS, RAPT_POSITIONS_KINDS, 1); /* relative */
HAS_WORDS(CONFIG_INITS, RAPT_WEIGHT_INITS, 1);       /* zeros */

double config_block_min_bytes(const config_stack *s)
{
    const rapt_block_config *c = s->block;
    double d = (double)c->d_model, head = (double)block_head_features(c);
    double q = head * (double)c->heads, kv = head * (double)c->kv_heads;
    double matrices = c->ffn_kind == RAPT_FFN_SWIGLU || c->ffn_kind == RAPT_FFN_GEGLU_TANH ? 3 : 2;
    double layer = (double)s->attentions * (2 * d * q + 2 * d * kv) + (double)s->ffns * matrices * d * (double)c->ffn;
    return ((double)s->rows * d + (double)s->layers * layer) * sizeof(rapt_real);
}

/* The angles of rotary positions are computed, so the size of the parameter file does not bound their number. */
static rapt_code check_rotary(const config_stack *s, const char *path, rapt_error *err)
{
    size_t features = block_head_features(s->block);
    double bytes = (double)s->longest * (double)features * sizeof(rapt_real);
    if (s->positions != RAPT_POSITIONS_ROTARY)
        return RAPT_OK;
    if (features % 2)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: rotary positions turn pairs of features; a head has %zu", path, features);
    if (bytes > FREE_TABLE && bytes > config_block_min_bytes(s))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: rotary positions for %s of %zu take %.0f bytes, more than the model", path,
                         s->longest_name, s->longest, bytes);
    return RAPT_OK;
}

rapt_code config_block_refuse(const char *member, const char *path, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: our config.json does not describe models with \"%s\"", path, member);
}

rapt_code config_block_check_ours(const rapt_block_config *c, const char *path, rapt_error *err)
{
    const char *beyond = c->heads * block_head_features(c) != c->d_model ? "head_dim"
                         : c->scores.scale != 0 || c->scores.cap != 0   ? "scores"
                         : c->qk_norm != RAPT_QK_NORM_NONE              ? "qk_norm"
                         : c->residual_scale != 0                       ? "residual_scale"
                         : c->rotary_dim != 0                           ? "rotary_dim"
                         : c->norm_place > RAPT_NORM_PLACE_PRE          ? "norm_place"
                         : c->ffn_kind == RAPT_FFN_GEGLU_TANH           ? "ffn_kind"
                                                                        : NULL;
    return beyond ? config_block_refuse(beyond, path, err) : RAPT_OK;
}

rapt_code config_block_check(const config_stack *s, const char *path, rapt_error *err)
{
    const rapt_block_config *c = s->block;
    if (!block_head_features(c))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu heads do not divide d_model, %zu", path, c->heads, c->d_model);
    if (c->heads % c->kv_heads)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu key-value heads do not divide %zu heads", path, c->kv_heads, c->heads);
    return check_rotary(s, path, err);
}
