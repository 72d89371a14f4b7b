/* strings_frame.js: texts that every page has: of rapt explain, of the lesson, of rapt serve. It comes first, and the other
 * tables, strings*.js, add to it; no key is in two of them. In English and in Chinese; from the first brace to the last one it
 * is JSON: tests/explain/check_strings.py reads it. */
const STRINGS = {
"page.other": ["中文", "English"],
"page.other.title": ["本页改用中文", "Show this page in English"],
"page.theme": ["Dark theme", "深色主题"],
"page.theme.dark": ["Dark", "深色"],
"page.theme.light": ["Light", "浅色"]
};
