/* rapt/defaults.h: what structs of options that begin with their size have in common, and the value that stands for what a
 * model's folder says.
 *
 *    rapt_generate_options options = rapt_generate_options_default();
 *    options.max_tokens = 100;
 *    options.sample.seed = 0;
 *
 * The function `..._default` of a struct fills in its size and its defaults; a program then changes members. A member's value is
 * what it says: 0 is 0. Where that would make no sense, its comment says what 0 stands for: `threads` 0 is one a CPU, `kv_memory`
 * and `chunk` 0 are limits of the library's choice, `repetition_window`, `top_k`, `max_size` and the `width` of an explanation 0
 * no limit, `now` 0 is the present, `smooth_value` 0 its default, and `detokenize` 0, NULL for a text and enumerators such as
 * RAPT_POOLING_AS_STORED leave it to the model. Where options are expected, NULL stands for the defaults. A struct without a
 * size, such as a zeroed one, is refused (RAPT_ERR_VALUE). Because of the size, a later version of the library can add members:
 * in a program that was compiled before, they have their defaults.
 *
 * `..._default` is compiled into the program, and calls the library's `..._init(o, size)` with the size that the struct has in
 * the program's headers. `..._init` writes `size` into the struct, and defaults to its first `size` bytes, never beyond. What an
 * older library does not know becomes zero, and such options are refused where they are taken (RAPT_ERR_VALUE). Programs in other
 * languages call `..._init` with the size of their own declaration. Members are only added at the end, where no padding lies
 * (`reserved` takes its place), or take the place of a `reserved` member.
 *
 * Structs that say what a call is to do once, or hand it data (rapt_translator_request, rapt_engine_generation,
 * rapt_metric_texts, rapt_table, rapt_curve), have no defaults: a zeroed member is absent. In place of a size they have
 * `reserved` members, which must be zero. So has a struct that lies within options with a size (rapt_compute,
 * rapt_lora_options). The other structs of rapt/parts.h have neither: a zeroed one is the defaults, and its members may change
 * with each minor version.
 */
#ifndef RAPT_DEFAULTS_H
#define RAPT_DEFAULTS_H

/* The value of a member that the model's folder decides: what its policy says (rapt/policy.h), or if it says nothing, what the
 * member's comment says. Only members whose comment names it take it, of any type of numbers; it is out of range for each of
 * them. Other members refuse it (RAPT_ERR_VALUE), with two exceptions: where -1000 is in range, as for a seed, a position, a time
 * or a value, it is a number like any other, and a bool becomes true. */
#define RAPT_AS_MODEL (-1000)

#endif
