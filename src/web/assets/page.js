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
