// What a page does while one looks at it. Everything else works without.
"use strict";

// Puts the code of a sign-in link into the form, takes it out of the address, and asks whose it is.
const signIn = document.querySelector("form[data-sign-in]");
if (signIn && location.hash.length > 1) {
  const field = signIn.elements.code;
  field.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  const name = signIn.querySelector("[data-sign-in-name]");
  fetch("/login/person", { method: "POST", body: new URLSearchParams({ code: field.value }) })
    .then((answer) => (answer.ok ? answer.text() : Promise.reject()))
    .then((person) => {
      name.textContent = `Sign in as ${person}?`;
      field.closest("label").hidden = true;
      signIn.querySelector("button").focus();
    })
    .catch(() => { name.textContent = "This link is used up or too old. “compline web” makes a new one."; });
}

// The chat: keeps a message until it is stored, and shows what grows.
const say = document.getElementById("say");
if (say) {
  const growing = document.getElementById("growing");
  const live = document.getElementById("live");
  const problem = document.getElementById("problem");
  const pasted = document.getElementById("pasted");
  const field = say.elements.text;
  const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const refresh = () => {
    const request = new XMLHttpRequest();
    request.open("GET", "/chat/messages");
    request.responseType = "document";
    request.onload = () => {
      const fresh = request.response && request.response.getElementById("messages");
      if (request.status === 200 && fresh) {
        document.getElementById("messages").replaceWith(document.adoptNode(fresh));
        growing.textContent = "";
        say.scrollIntoView({ block: "end" });
      }
    };
    request.send();
  };
  const send = (body, tries) => {
    fetch("/chat?by=script", { method: "POST", body }).then(async (answer) => {
      if (answer.ok) {
        problem.hidden = true;
        field.value = "";
        pasted.replaceChildren();
        say.elements.id.value = newId();
        refresh();
      } else {
        problem.textContent = answer.status === 401 ? "You are signed out. Your text is still here." : await answer.text();
        problem.hidden = false;
      }
    }, () => {
      problem.textContent = "Not sent yet: the assistant cannot be reached. Trying again.";
      problem.hidden = false;
      setTimeout(() => send(body, tries + 1), Math.min(1000 * 2 ** tries, 30000));
    });
  };
  say.elements.id.value = newId();
  say.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() || pasted.children.length) send(new URLSearchParams(new FormData(say)), 0);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); say.requestSubmit(); }
  });
  // What is pasted stands apart: others may have written it.
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData && event.clipboardData.getData("text/plain");
    if (!text || text.length < 40) return;
    event.preventDefault();
    const box = document.createElement("div");
    box.className = "outside";
    const shown = document.createElement("textarea");
    shown.name = "pasted"; shown.readOnly = true; shown.rows = 3; shown.value = text;
    shown.setAttribute("aria-label", "Pasted text");
    const own = document.createElement("button");
    own.type = "button"; own.textContent = "These are my words";
    own.onclick = () => { field.value += text; box.remove(); field.focus(); };
    const remove = document.createElement("button");
    remove.type = "button"; remove.textContent = "Remove";
    remove.onclick = () => { box.remove(); field.focus(); };
    box.append("Pasted: ", shown, own, " ", remove);
    pasted.append(box);
  });
  let events = null;
  const connect = () => {
    events = new EventSource("/chat/events");
    events.onopen = () => { live.textContent = "live"; refresh(); };
    events.onerror = () => { live.textContent = "not live since " + new Date().toLocaleTimeString(); };
    events.addEventListener("message", refresh);
    events.addEventListener("grow", (event) => { growing.textContent += JSON.parse(event.data); });
    events.addEventListener("restart", () => { growing.textContent = ""; });
    events.addEventListener("typing", () => { if (!growing.textContent) live.textContent = "writing…"; });
  };
  // One stream for each visible tab: a browser opens six to one server at most.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { events.close(); } else { connect(); }
  });
  if (!document.hidden) connect();
}

// Single keys: g and a letter open a page, / goes to the search, n to the message, ? to the keys.
if ("shortcuts" in document.documentElement.dataset) {
  let went = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const link = event.timeStamp - went < 1500 && document.querySelector(`.top a[data-key="${CSS.escape(event.key)}"]`);
    went = event.key === "g" ? event.timeStamp : 0;
    const to = link ? link.href : { "/": "/search", "?": "/help" }[event.key];
    if (to) { event.preventDefault(); location.href = to; }
    if (event.key === "n" && !link) { event.preventDefault(); if (say) say.elements.text.focus(); else location.href = "/chat"; }
  });
}
