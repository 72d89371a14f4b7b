/* strings_heads.js: the texts of attention weights and heat maps that the pages of rapt explain and of the lesson share. What
 * one of them says in words of its own is in its strings.js. */
Object.assign(STRINGS, {
"sentence.unknown": ["Not in the vocabulary, and read as <unk>: {words}.", "不在词表中，读作<unk>：{words}。"],

"attention.title": ["Attention weights", "注意力权重"],
"attention.heads": ["All heads", "所有注意力头"],
"attention.encoder.attention": ["Encoder: self-attention", "编码器：自注意力"],
"attention.decoder.self_attention": ["Decoder: self-attention", "解码器：自注意力"],
"attention.decoder.cross_attention": ["Decoder: cross-attention", "解码器：编码器-解码器注意力"],
"attention.block": ["block {block}", "块{block}"],
"attention.head": ["head {head}", "头{head}"],
"attention.mean": ["mean", "平均"],
"attention.map.label": ["Attention weights, {kind}, block {block}, {head}", "注意力权重，{kind}，块{block}，{head}"],

"axis.query": ["query", "查询"],
"axis.key": ["key", "键"],

"map.role": ["heat map", "热图"],
"map.zoom": ["Zoom", "缩放"],
"map.in": ["Zoom in", "放大"],
"map.out": ["Zoom out", "缩小"],
"map.all": ["all", "全部"],
"map.all.label": ["Show all", "显示全部"],
"map.masked": [", masked: ", "，被掩蔽："],
"map.value": [": ", "："],
"map.missing": ["not in this page", "本页没有"],
"map.legend.row": ["the row’s largest", "该行最大值"],
"map.legend.quarter": ["a quarter", "四分之一"]
});
