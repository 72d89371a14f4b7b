/* text/spm/spm_bpe.h: cuts a text into pieces by merging neighbors, the pair with the best score first (Sennrich et al.
 * 2016). For SentencePiece's BPE models; bpe/ has the byte-level kind, whose merges are pairs of tokens with ranks. */
#ifndef TEXT_SPM_SPM_BPE_H
#define TEXT_SPM_SPM_BPE_H

#include "text/pieces/piece_cuts.h"
#include "text/spm/spm.h"

/* The pieces of a text of at most PIECE_MAX_TEXT bytes are added to `cuts`. False on out-of-memory. */
bool spm_bpe_cut(const spm *k, const char *text, size_t size, piece_cuts *cuts);

#endif
