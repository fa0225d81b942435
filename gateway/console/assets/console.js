// The script of the console. Every page works without it.
const typing = (target) => target.closest("input, select, textarea, [contenteditable]") !== null;

let going = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "/") {
    const field = document.querySelector("main input:not([type=hidden])");
    if (field) {
      field.focus();
      event.preventDefault();
    }
    return;
  }
  if (going) {
    going = false;
    const entry = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
    if (entry) entry.click();
    return;
  }
  going = event.key === "g";
});
