// What a page does while one looks at it. Everything else works without.
"use strict";

// Puts the code of a sign-in link into the form, takes it out of the address, and asks whose it is.
const signIn = document.querySelector("form[data-sign-in]");
if (signIn) {
  const field = signIn.elements.code;
  const name = signIn.querySelector("[data-sign-in-name]");
  const take = () => {
    const code = location.hash.slice(1);
    if (!code || document.getElementById(code)) return;
    field.value = code;
    history.replaceState(null, "", location.pathname);
    fetch("/login/person", { method: "POST", body: new URLSearchParams({ code }) })
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status)))
      .then((person) => {
        name.textContent = `Sign in as ${person}?`;
        field.closest("label").hidden = true;
        signIn.querySelector("button").focus();
      })
      .catch((status) => {
        name.textContent = status === 403
          ? "This link is used up or too old. “compline web” makes a new one."
          : "The assistant did not answer. “Sign in” tries the link again.";
      });
  };
  addEventListener("hashchange", take);
  take();
}

// The chat: keeps a message until it is stored, also while other pages are open, and shows what grows.
const say = document.getElementById("say");
if (say) {
  const growing = document.getElementById("growing");
  const live = document.getElementById("live");
  const problem = document.getElementById("problem");
  const pasted = document.getElementById("pasted");
  const field = say.elements.text, files = say.elements.file;
  const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const pieces = () => [...pasted.querySelectorAll("textarea")].map((shown) => shown.value);
  const names = () => [...files.files].map((file) => file.name);
  const place = `draft of ${say.dataset.person}`;
  // The message on its way, as it was submitted.
  let sent = null, due = 0;
  // The files themselves cannot be kept.
  const keep = () => {
    clearTimeout(due);
    due = 0;
    const draft = { id: say.elements.id.value, text: field.value, pasted: pieces(), files: names(), sent };
    // Where a browser refuses, the draft lasts as long as the page.
    try { sessionStorage.setItem(place, JSON.stringify(draft)); } catch {}
  };
  const keptDraft = () => {
    try { return JSON.parse(sessionStorage.getItem(place)); } catch { return null; }
  };
  const choose = (chosen) => {
    const list = new DataTransfer();
    chosen.forEach((file) => list.items.add(file));
    files.files = list.files;
    keep();
  };
  const report = (sentence) => { problem.textContent = sentence; problem.hidden = !sentence; };
  const refusal = async (answer) => {
    const isSentence = (answer.headers.get("content-type") || "").startsWith("text/plain");
    return answer.status === 401 ? "You are signed out." : isSentence ? await answer.text() : "This did not work.";
  };

  // Replaces only what changed, so that the focus stays. `stored` characters of what grew stand in it.
  let grown = 0;
  const show = (fresh, stored) => {
    const list = document.getElementById("messages");
    const atEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 150;
    const kept = new Set([...fresh.children].map((entry) => entry.id));
    for (const entry of [...list.children]) if (!kept.has(entry.id)) entry.remove();
    [...fresh.children].forEach((entry, at) => {
      const old = list.children[at];
      if (!old) return list.append(entry);
      const hasFocus = old.contains(document.activeElement);
      if (old === document.activeElement) entry.tabIndex = -1;
      if (old.isEqualNode(entry)) return;
      old.replaceWith(entry);
      if (hasFocus) { entry.tabIndex = -1; entry.focus(); }
    });
    stored = Math.min(stored, grown);
    growing.textContent = growing.textContent.slice(stored);
    grown -= stored;
    if (atEnd) say.scrollIntoView({ block: "end" });
  };
  let loading = false, stale = false;
  const refresh = () => {
    stale = loading;
    if (loading) return;
    loading = true;
    const stored = grown;
    const request = new XMLHttpRequest();
    request.open("GET", "/chat/messages");
    request.responseType = "document";
    request.onload = () => {
      const fresh = request.status === 200 && request.response && request.response.getElementById("messages");
      if (fresh) show(fresh, stored);
    };
    request.onloadend = () => { loading = false; if (stale) refresh(); };
    request.send();
  };

  // Sends the message that was submitted, however the field changes meanwhile.
  const send = (lost) => {
    const boxes = [...pasted.children].slice(0, sent.pasted.length), chosen = [...files.files];
    const { text } = sent;
    const body = new FormData(say);
    body.set("text", text);
    body.delete("pasted");
    sent.pasted.forEach((piece) => body.append("pasted", piece));
    if (lost) body.set("lost", "1");
    // A piece on its way cannot be taken back.
    const hold = (isHeld) => boxes.forEach((box) => { box.inert = isHeld; });
    const end = () => { sent = null; hold(false); };
    let tries = 0;
    const attempt = () => fetch("/chat?by=script", { method: "POST", body }).then(async (answer) => {
      end();
      if (answer.ok) {
        report("");
        if (field.value.startsWith(text)) field.value = field.value.slice(text.length).trimStart();
        boxes.forEach((box) => box.remove());
        choose([...files.files].filter((file) => !chosen.includes(file)));
        say.elements.id.value = newId();
        refresh();
      } else {
        report(await refusal(answer) + " Your text is still here.");
      }
      keep();
    }, async () => {
      const gone = [];
      for (const file of chosen) await file.arrayBuffer().catch(() => gone.push(file));
      if (gone.length) {
        end();
        choose([...files.files].filter((file) => !gone.includes(file)));
        return report(`Not sent: ${gone.map((file) => file.name).join(", ")} was changed or deleted. Choose it again. Your text is still here.`);
      }
      report("Not sent yet: the assistant cannot be reached. Trying again.");
      setTimeout(attempt, Math.min(1000 * 2 ** tries++, 30000));
    });
    hold(true);
    keep();
    attempt();
  };
  say.addEventListener("submit", (event) => {
    event.preventDefault();
    if (sent || !(field.value.trim() || pasted.children.length || files.files.length)) return;
    sent = { text: field.value, pasted: pieces(), files: names() };
    send(false);
  });
  field.addEventListener("input", () => { due = due || setTimeout(keep, 400); });
  addEventListener("pagehide", keep);
  // A page that is left takes the files with it.
  addEventListener("beforeunload", (event) => { keep(); if (sent && files.files.length) event.preventDefault(); });
  // A button leaves the draft where it is. One in the chat counts once, those below the field each time.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches(".inline[action='/chat']")) return;
    event.preventDefault();
    const body = new FormData(form);
    body.set("button", event.submitter.value);
    fetch("/chat?by=script", { method: "POST", body }).then(async (answer) => {
      if (!answer.ok) return report(await refusal(answer));
      if (!form.closest("#messages")) form.elements.id.value = newId();
      if (!sent) report("");
      refresh();
    }, () => report("The assistant cannot be reached. Press the button again in a moment."));
  });
  files.addEventListener("change", keep);
  say.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
  say.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    choose([...files.files, ...event.dataTransfer.files]);
  });
  field.addEventListener("keydown", (event) => {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !isTouch) { event.preventDefault(); say.requestSubmit(); }
  });

  // What is pasted stands apart, since others may have written it; a single word does not.
  const add = (text) => {
    const box = document.createElement("div");
    box.className = "outside";
    const shown = document.createElement("textarea");
    shown.name = "pasted"; shown.readOnly = true; shown.rows = 3; shown.value = text;
    shown.setAttribute("aria-label", "Pasted text");
    const button = (title, act) => {
      const made = document.createElement("button");
      made.type = "button"; made.textContent = title;
      made.onclick = () => { act(); box.remove(); keep(); field.focus(); };
      return made;
    };
    box.append("Pasted: ", shown, button("These are my words", () => { field.value += text; }), " ", button("Remove", () => {}));
    pasted.append(box);
    keep();
  };
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData && event.clipboardData.getData("text/plain");
    if (!text && event.clipboardData && event.clipboardData.files.length) choose([...files.files, ...event.clipboardData.files]);
    if (!text || (text.length <= 40 && !/\s/.test(text.trim()))) return;
    event.preventDefault();
    add(text);
  });

  say.elements.id.value = newId();
  const kept = keptDraft();
  // A page that is opened for a conversation begins with its words, once.
  const opening = history.state === "seen" ? "" : field.defaultValue;
  if (kept) {
    say.elements.id.value = kept.id;
    field.value = kept.text.startsWith(opening) ? kept.text : opening + kept.text;
    kept.pasted.forEach(add);
    sent = kept.sent;
    const lost = (of) => of.files.length > 0 && files.files.length === 0;
    // Under its id it counts once, whether it had arrived or not.
    if (sent) send(lost(sent));
    else if (lost(kept)) report(`Choose ${kept.files.join(", ")} again: a page that is left drops files.`);
  }
  history.replaceState("seen", "");

  let events = null, again = 0, calm = 0;
  const tell = (state) => { clearTimeout(calm); live.textContent = state; };
  const now = () => new Date().toLocaleTimeString("en-GB", { timeZone: live.dataset.zone, hour: "2-digit", minute: "2-digit" });
  // One stream for each visible tab: a browser opens six to one server at most.
  const connect = () => {
    clearTimeout(again);
    if (events) events.close();
    if (document.hidden) return;
    events = new EventSource("/chat/events");
    events.onopen = () => { tell("live"); refresh(); };
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) again = setTimeout(connect, 5000);
      if (!live.textContent.startsWith("not")) tell("not live since " + now());
    };
    events.addEventListener("message", () => { tell("live"); refresh(); });
    events.addEventListener("answer", () => { tell("live"); grown = growing.textContent.length; refresh(); });
    events.addEventListener("grow", (event) => { growing.textContent += JSON.parse(event.data); });
    events.addEventListener("restart", () => { growing.textContent = ""; grown = 0; });
    events.addEventListener("typing", () => {
      if (growing.textContent) return;
      tell("writing…");
      calm = setTimeout(tell, 6000, "live");
    });
  };
  document.addEventListener("visibilitychange", connect);
  connect();
  say.scrollIntoView({ block: "end" });
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
