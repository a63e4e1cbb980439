// Runs the collector as an integrator's page does, and shows each step. `?run` runs at once; `mode`, `reference` and
// `magic` preset the form.
import { create, VERSION } from "./collector.js"

// The edge admits this origin only, and collectors trust no other host without TLS.
if (location.hostname !== "localhost") location.hostname = "localhost"

const element = (id) => document.getElementById(id)
const { options, tables, modes, magic } = await (await fetch("setup")).json()
fillForm()
element("form").addEventListener("submit", (event) => {
  event.preventDefault()
  run()
})
if (new URLSearchParams(location.search).has("run")) run()

function fillForm() {
  for (const mode of modes) element("mode").append(new Option(mode, mode))
  for (const { label, pairs } of magic) {
    const group = document.createElement("optgroup")
    group.label = label
    for (const { value, status, code, after_ms } of pairs) {
      const after = after_ms === undefined ? "" : ` after ${after_ms} ms`
      group.append(new Option(`${status} ${code ?? ""}${after} (${value})`.replace("  ", " "), value))
    }
    element("magic").append(group)
  }
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = element("form").elements.namedItem(name)
    if (field) field.value = value
  }
  element("reference").value ||= `demo ${random()}`
}

/** One session, from the collector to the backend. */
async function run() {
  element("run").disabled = true
  element("steps").replaceChildren()
  status("Running …")
  try {
    status(await session())
  } catch {
    status("The run ended with an error.")
  } finally {
    element("run").disabled = false
    element("steps").ariaBusy = "false"
    // The next run is another session.
    if (element("reference").value.startsWith("demo ")) element("reference").value = `demo ${random()}`
  }
}

async function session() {
  const chosen = element("magic").value
  // The text after ~ makes each magic session a new one.
  const reference = chosen ? `${chosen}~${element("reference").value}` : element("reference").value
  const mode = element("mode").value

  const collector = await step(`create({ apiUrl, mode: "${mode}", sealKey })`, async ({ details }) => {
    const made = create({ ...options, mode }, tables)
    details({ "collector": VERSION, "apiUrl": options.apiUrl, "key": tables.compatibility ? "none: unsealed" : options.sealKey.kid })
    return [made, "The options are valid."]
  })
  await step(`start(${JSON.stringify(reference)})`, async () => {
    collector.start(reference)
    return [undefined, "The measurements have begun."]
  })
  await step("ready()", async () => {
    await collector.ready()
    return [undefined, "The measurements are done."]
  })
  const accepted = await step("verify()", async ({ details, refuse }) => {
    const post = recordPost()
    try {
      await collector.verify()
      details(post.described())
      return [true, "The edge accepted the collection."]
    } catch (error) {
      details(post.described())
      refuse()
      return [false, `${error.name}: ${error.message}`]
    } finally {
      post.end()
    }
  })
  return step("The backend fetches the verdict", async ({ details, wait, refuse }) => {
    const query = new URLSearchParams({ ref: reference, waitMs: accepted ? 3000 : 0 })
    const { request, status, body, error } = await (await fetch(`verdict?${query}`)).json()
    details({ request, "read token": "sent by this page's server, unknown to this page" })
    if (status === 200) {
      details({ "confidence": meter(body.confidence), "body": body, "token's claims": claims(body.token) })
      return [`Verdict: ${body.decision}.`, `${status}, decision: ${body.decision}`]
    }
    details({ "body": body })
    if (status === 404) {
      wait()
      return [accepted ? "No verdict yet." : "Refused: no verdict.", `${status}: there is no verdict`]
    }
    refuse()
    return ["No verdict.", error ?? `${status}`]
  })
}

/** Shows a step while it runs, then its outcome. The action returns its result and the outcome's text. */
async function step(title, action) {
  const item = element("step").content.cloneNode(true).firstElementChild
  const part = (name) => item.querySelector(name)
  part(".title").textContent = title
  part(".outcome").textContent = "…"
  element("steps").ariaBusy = "true"
  element("steps").append(item)
  let tone = "good"
  const began = performance.now()
  const ended = () => {
    part(".time").textContent = `${Math.round(performance.now() - began)} ms`
    item.className = tone
  }
  try {
    const [result, outcome] = await action({
      details: (values) => show(part("dl"), values),
      refuse: () => (tone = "bad"),
      wait: () => (tone = "wait"),
    })
    part(".outcome").textContent = outcome
    return result
  } catch (error) {
    tone = "bad"
    part(".outcome").textContent = `${error.name}: ${error.message}`
    throw error
  } finally {
    ended()
  }
}

/** Adds names and values to a list. Objects become JSON. */
function show(list, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue
    const [term, definition] = [document.createElement("dt"), document.createElement("dd")]
    term.textContent = name
    if (value instanceof Node) definition.append(value)
    else {
      const block = document.createElement("pre")
      block.tabIndex = 0
      block.textContent = typeof value === "string" ? value : JSON.stringify(value, null, 2)
      definition.append(block)
    }
    list.append(term, definition)
  }
}

/** Records what the collector posts, and the edge's answer, until `end()`. */
function recordPost() {
  const original = window.fetch
  let [url, body, answer] = []
  window.fetch = async (...args) => {
    ;[url, { body }] = args
    const response = await original(...args)
    answer = `${response.status} ${await response.clone().text()}`
    return response
  }
  return {
    described: () => ({
      "request": url && `POST ${url}`,
      "collection": body && `${body.length} characters: ${body.slice(0, 160)}…`,
      "answer": answer,
    }),
    end: () => (window.fetch = original),
  }
}

function meter(confidence) {
  const [all, bar] = [document.createElement("span"), document.createElement("meter")]
  Object.assign(bar, { min: 0, max: 1, value: confidence })
  all.append(bar, ` ${confidence}`)
  return all
}

/** Claims of a token, unverified: verifying is the backend's task. */
function claims(token) {
  try {
    const [, payload] = token.split(".")
    const binary = atob(payload.replaceAll("-", "+").replaceAll("_", "/"))
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))))
  } catch {
    return undefined
  }
}

function status(text) {
  element("status").textContent = text
}

function random() {
  return Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
