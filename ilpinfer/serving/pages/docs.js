// The requests of the page of descriptions: each example is sent as it stands in its text area.
const LONGEST = 20000;

function shown(text) {
  let lines = text;
  try { lines = JSON.stringify(JSON.parse(text), null, 1).replace(/\[\s*((?:[^[\]{}"]|"(?:[^"\\]|\\.)*")*?)\s*\]/g, (_, inner) => `[${inner.replace(/\n\s*/g, " ")}]`); } catch { /* no JSON */ }
  return lines.length > LONGEST ? `${lines.slice(0, LONGEST)}\n… ${lines.length - LONGEST} further characters` : lines;
}

for (const box of document.querySelectorAll(".try")) {
  const { verb, path } = box.closest("section").dataset;
  const [body, status, answer] = ["textarea", "output", "pre"].map((name) => box.querySelector(name));
  box.querySelector("button").addEventListener("click", async () => {
    const began = performance.now();
    status.textContent = "…";
    try {
      const response = await fetch(path, { method: verb, body: body?.value });
      const text = await response.text();
      status.textContent = `status ${response.status}, ${Math.round(performance.now() - began)} ms`;
      answer.textContent = shown(text);
      answer.hidden = false;
    } catch {
      status.textContent = "the service does not answer";
    }
  });
}
