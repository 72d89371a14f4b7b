/* theme.js: light or dark: as the system asks, until the reader chooses. Not here: the colors, see look.css and colors.js. */
const theme = () => document.documentElement.dataset.theme;

/* `changed` is called when it holds. */
function setTheme(name, changed) {
    document.documentElement.dataset.theme = name;
    const button = byId("theme");
    button.setAttribute("aria-pressed", name === "dark");
    button.querySelector(".theme-word").textContent = t(name === "dark" ? "page.theme.light" : "page.theme.dark");
    changed();
}

function followTheme(changed) {
    const system = matchMedia("(prefers-color-scheme: dark)"), byReader = { chose: false };
    setTheme(system.matches ? "dark" : "light", changed);
    system.addEventListener("change", () => byReader.chose || setTheme(system.matches ? "dark" : "light", changed));
    byId("theme").addEventListener("click", () => {
        byReader.chose = true;
        setTheme(theme() === "dark" ? "light" : "dark", changed);
    });
}
