/* cli/tokenizer.h: the parts of `rapt tokenizer`. argv[0] is "rapt tokenizer"; each returns the exit status. */
#ifndef CLI_TOKENIZER_H
#define CLI_TOKENIZER_H

int tokenizer_train(int argc, char **argv);
int tokenizer_encode(int argc, char **argv);
int tokenizer_decode(int argc, char **argv);
int tokenizer_info(int argc, char **argv);

#endif
