/* text/chat/chatml.h: the form of conversations of new models: ChatML, which Qwen and others have. For training. */
#ifndef TEXT_CHAT_CHATML_H
#define TEXT_CHAT_CHATML_H

#define CHATML_START "<|im_start|>"
#define CHATML_END "<|im_end|>"

#define CHATML_TEMPLATE                                                                                          \
    "{% for message in messages %}"                                                                              \
    "{{ '" CHATML_START "' + message.role + '\\n' + message.content + '" CHATML_END "' + '\\n' }}"             \
    "{% endfor %}"                                                                                               \
    "{% if add_generation_prompt %}{{ '" CHATML_START "assistant\\n' }}{% endif %}"

#endif
