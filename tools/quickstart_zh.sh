# tools/quickstart_zh.sh: what ./quickstart and tools/packages.sh say, in Chinese. ./quickstart sources it before tools/packages.sh,
# whose own `text` it replaces. A text that is not here is said in English; tests/cli/check_quickstart.sh finds such texts.

# text ENGLISH: prints it in Chinese.
text() {
    case $1 in
    'What it takes (missing packages; nothing listed: nothing missing)') echo '需要的软件包（下面只列出还没有安装的；什么都没列出，就是不缺）' ;;
    'or what your system calls them') echo '或您的系统里对应的软件包' ;;
    'installing') echo '正在安装' ;;
    'please install, as root') echo '请以root身份安装' ;;
    'could not install') echo '没能安装' ;;
    'the C compiler and make') echo 'C编译器和make' ;;
    'the build system, and how it finds libraries') echo '构建系统，以及它查找库的工具' ;;
    'JSON: configurations, model files, logs') echo 'JSON：配置、模型文件、日志' ;;
    'YAML: recipes') echo 'YAML：配方' ;;
    'checksums of model files') echo '模型文件的校验和' ;;
    'patterns that split texts for tokenizers') echo '词元分析器预切分文本用的正则表达式' ;;
    'texts in gzip files') echo 'gzip压缩的文本' ;;
    'pictures as PNG: text of all scripts') echo 'PNG图片：各种文字的显示' ;;
    'rapt fetch: downloads') echo 'rapt fetch：下载' ;;
    'rapt fetch: unpacking and sha256') echo 'rapt fetch：解压和sha256' ;;
    'rapt serve: HTTP') echo 'rapt serve：HTTP' ;;
    'Build') echo '编译' ;;
    'Train') echo '训练' ;;
    './quickstart resumes from there.') echo '再运行./quickstart，就从那里恢复训练。' ;;
    'Translate') echo '翻译' ;;
    'Score, on the validation set') echo '在验证集上评分' ;;
    'What to try next') echo '接下来可以试试' ;;
    'the same into Chinese; sentences to try:') echo '训练译成汉语的模型；可以用来试译的句子：' ;;
    'docs/start.md shows more; docs/troubleshooting.md explains messages; docs/tour.md is the way through the sources.')
        echo 'docs/start.zh-CN.md讲解这些步骤和命令打印的内容，还有更多例子；遇到报错，查docs/troubleshooting.zh-CN.md；'
        echo '想逐步学习Transformer，从docs/book/README.zh-CN.md开始。'
        ;;
    *) printf '%s\n' "$1" ;;
    esac
}
