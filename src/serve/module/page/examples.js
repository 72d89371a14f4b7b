/* examples.js: a first text for a model, in the language that it reads, whatever the page speaks. */
const EXAMPLES = { en: "Where are my keys?", de: "Wo sind meine Schlüssel?", fr: "Où sont mes clés ?",
    es: "¿Dónde están mis llaves?", it: "Dove sono le mie chiavi?", pt: "Onde estão minhas chaves?",
    nl: "Waar zijn mijn sleutels?",
    zh: "我的钥匙在哪里？", ja: "私の鍵はどこですか。", ru: "Где мои ключи?" };
const PROMPT = "Once upon a time";

/* "" for a language that has none. */
function exampleFrom(source) {
    try {
        return EXAMPLES[new Intl.Locale(tagOf(source) || "en").language] ?? "";
    } catch {
        return "";
    }
}
