#!/bin/bash
# tests/cli/check_quickstart.sh: ./quickstart in English and in Chinese, in a tree where `make` copies the program and the recipe takes
# four steps; the language by locale and option; and the Chinese of every text that ./quickstart and tools/packages.sh say.
. "$(dirname "$0")/lib.sh"
unset LC_MESSAGES LANG
ROOT=$SOURCE

make_tree() {
    mkdir -p tree/recipes tree/data tree/build bin
    cp "$ROOT/quickstart" tree/
    ln -s "$ROOT/tools" tree/
    cp "$ROOT/data/try.en" tree/data/
    make_pairs >tree/data/en-fr.tsv
    sed 's/^  steps: 1200 /  steps: 4 /; s/d_model: 128/d_model: 16/; s/ffn: 256/ffn: 32/; s/max_len: 24/max_len: 12/' \
        "$ROOT/recipes/quickstart.yaml" >tree/recipes/quickstart.yaml
    printf '#!/bin/sh\nprintf "#!/bin/sh\\nexec %s \\"\\$@\\"\\n" >build/rapt && chmod +x build/rapt\n' "'$RAPT'" >bin/make
    printf '#!/bin/sh\necho install ok installed\n' >bin/dpkg-query
    printf '#!/bin/sh\necho 0\n' >bin/id
    printf '#!/bin/sh\nexit 1\n' >bin/apt-get
    chmod +x bin/*
}

# quickstart NAME LOCALE OPTION...: its output in NAME, of a tree without a model.
quickstart() {
    local name=$1 locale=$2
    shift 2
    rm -rf tree/models
    PATH=$WORK/bin:$PATH LC_ALL=$locale tree/quickstart "$@" >"$name" 2>"$name.err"
}
headings() { sed -n '/^== /{ s/^== //; s/ *\((\|（\|: \).*//; p }' "$1"; }
are() { headings "$1" | diff - <(printf '%s\n' "${@:2}"); }
in_english() { are "$1" 'What it takes' Build Train Translate 'Score, on the validation set' 'What to try next'; }
in_chinese() { are "$1" 需要的软件包 编译 训练 翻译 在验证集上评分 接下来可以试试; }

# What stands between the texts: commands and what the program prints.
commands_of() { grep -oE 'build/rapt .*' "$1" | sed 's/ *#.*//'; grep -E '^  [A-Z]|^    -> |^BLEU|^loss' "$1"; }
same_commands() { commands_of english >commands && [ "$(wc -l <commands)" -gt 30 ] && commands_of chinese | diff commands -; }
sentences() { [ "$(grep -c '^    -> ' english)" = "$(wc -l <"$ROOT/data/try.en")" ]; }

# language LOCALE OPTION...: which of both, without a package and so without a training run.
language() {
    local try
    try=$(PATH=$WORK/bin:$PATH LC_ALL=$1 tree/quickstart "${@:2}" 2>&1)
    case $try in *'could not install'*) echo en ;; *没能安装*) echo zh ;; *) echo "$try" ;; esac
}
languages() {
    local line locale options want
    printf '#!/bin/sh\necho no\n' >bin/dpkg-query
    while read -r locale want options; do
        # shellcheck disable=SC2086 # options are words
        line=$(language "${locale#-}" $options)
        [ "$line" = "$want" ] || { echo "$locale $options: $line, not $want"; return 1; }
    done <<'END'
C en
- en
en_US.UTF-8 en
zh_CN.UTF-8 zh
zh_TW.utf8 zh
zh_CN zh
zh_CN.GB18030 en
zh_TW.Big5 en
zh_CN.UTF-8 en --lang en
C zh --lang zh
END
}
# Without LC_ALL, LC_MESSAGES decides, and then LANG.
next_variables() {
    [ "$(LC_MESSAGES=zh_CN.UTF-8 LANG=C language '')" = zh ] && [ "$(LANG=zh_CN.UTF-8 language '')" = zh ] &&
        [ "$(LC_MESSAGES=C LANG=zh_CN.UTF-8 language '')" = en ]
}
refuses() { quickstart refused C "$@"; [ $? = 2 ] && [ ! -s refused ] && grep -q '^usage: ./quickstart' refused.err; }

# Every text of both scripts, one a line, and what it is in Chinese: another text, but for names.
texts_of() {
    grep -ohE "(^ *|[({] *)text ('[^']*'|[a-z]+)" "$@" | sed "s/.*text //; s/'//g"
    sed -n '/^need_for_build/,/^}/p' "$ROOT/tools/packages.sh" | grep -ohE "need '[^']*'" | sed "s/^need //; s/'//g"
}
untranslated() {
    texts_of "$1" "$ROOT/tools/packages.sh" >texts
    [ "$(wc -l <texts)" -ge 22 ] || echo "hardly any text: $(wc -l <texts)"
    (
        . "$ROOT/tools/quickstart_zh.sh"
        while IFS= read -r line; do [ "$(text "$line")" != "$line" ] || echo "$line"; done <texts
    )
}
all_in_chinese() { untranslated "$ROOT/quickstart" >none; cat none; [ ! -s none ]; }
other_texts_are_found() {
    sed "s/text 'Build'/text 'Compile'/" "$ROOT/quickstart" >other
    untranslated other | diff - <(echo Compile)
}
pages_are_there() {
    local page
    for page in $(. "$ROOT/tools/quickstart_zh.sh" && text "$(grep -oE 'docs/start.md shows [^'"'"']*' "$ROOT/quickstart")" |
        grep -oE 'docs/[A-Za-z0-9/.-]*\.md'); do
        [ -e "$ROOT/$page" ] || { echo "$page"; return 1; }
    done
}

make_tree
check 'in English' quickstart english C
check 'with English headings' in_english english
check 'and a translation of each sentence' sentences
check 'in Chinese' quickstart chinese zh_CN.UTF-8
check 'with Chinese headings' in_chinese chinese
check 'with the same commands and results' same_commands
check 'the language of locales and options' languages
check 'the variables of the locale, in their order' next_variables
check 'another language is refused' refuses --lang fr
check 'and so is another option' refuses --steps 3
check 'every text is there in Chinese' all_in_chinese
check 'and one that is not is found' other_texts_are_found
check 'the pages that it names are there' pages_are_there
finish
