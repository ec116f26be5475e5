"use strict";
/*dom.js*/
/*chart.js*/
(() => {
  const POLL_MS = 2000;
  const OK = new Set(["accepted", "replayed", "dry_run"]);
  const FAILED = new Set(["unavailable", "error"]);
  // The location may have been asked for without its final slash.
  const base = location.pathname.replace(/\/*$/, "/");
  const byId = (id) => document.getElementById(id);

  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const count = (value) => whole.format(value);
  const rate = (value) => (value > 0 && value < 10 ? value.toFixed(1) : short.format(value));
  function duration(seconds) {
    if (seconds === 0) return "0";
    if (seconds < 1e-3) return Math.round(seconds * 1e6) + " µs";
    if (seconds < 1) return +(seconds * 1e3).toPrecision(3) + " ms";
    if (seconds < 120) return +seconds.toPrecision(3) + " s";
    if (seconds < 7200) return Math.round(seconds / 60) + " min";
    return Math.round(seconds / 3600) + " h";
  }
  function bytes(value) {
    const units = ["B", "KB", "MB", "GB", "TB"];
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
    return +value.toPrecision(3) + " " + units[unit];
  }
  /** `code` in a sentence of the server. */
  const sentence = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
  const lookUp = (report, path) => path.split(".").reduce((at, key) => (at == null ? at : at[key]), report);

  // ---- Charts -------------------------------------------------------------------------------------

  const per = (field) => (point) => (point.seconds > 0 ? point[field] / point.seconds : 0);
  const charts = [
    new LineChart(byId("chart-accepted"), "Accepted per second", rate, [
      { name: "order events", color: "one", value: per("accepted_events") },
      { name: "catalog batches", color: "two", value: per("accepted_catalog") },
    ]),
    new LineChart(byId("chart-refused"), "Refused and failed per second", rate, [
      { name: "refused (4xx)", color: "line-warn", value: per("refused") },
      { name: "failed (5xx)", color: "line-bad", value: per("failed") },
    ]),
    new LineChart(byId("chart-commit"), "Commit latency", duration, [
      { name: "p50", color: "one", value: (point) => point.commit_p50 },
      { name: "p99", color: "two", value: (point) => point.commit_p99 },
    ]),
    new LineChart(byId("chart-depth"), "Queue depth", rate, [{ name: "records", color: "one", value: (point) => point.depth }]),
  ];

  // ---- Bars and tables -------------------------------------------------------------------------

  /** rows: [label, value, colour, path in status.json]. A table, so that it reads without eyes too. */
  function bars(box, caption, rows) {
    if (!rows.length) {
      box.replaceChildren(element("p", { class: "muted" }, "none"));
      return;
    }
    const most = Math.max(1, ...rows.map((row) => row[1]));
    const body = rows.map(([name, value, color, path]) => {
      const bar = element("span", { class: "bar " + color });
      bar.style.width = (100 * value) / most + "%";
      const number = element("td", { class: "n" }, count(value));
      if (path) { number.dataset.path = path; number.dataset.value = value; }
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "b", "aria-hidden": "true" }, bar), number);
    });
    box.replaceChildren(element("table", { "aria-label": caption }, ...body));
  }

  const outcomeColor = (name) => (OK.has(name) ? "one" : FAILED.has(name) ? "bad" : "warn");

  function showResults(report) {
    for (const endpoint of ["events", "catalog"]) {
      const results = Object.entries(report[endpoint].results).filter(([name, value]) => value > 0 || name === "accepted");
      bars(byId("results-" + endpoint), "Results",
        results.map(([name, value]) => [name.replaceAll("_", " "), value, outcomeColor(name), endpoint + ".results." + name]));
    }
    const reasons = ["events", "catalog"].flatMap((endpoint) =>
      Object.entries(report[endpoint].reasons).map(([name, value]) =>
        [name.replaceAll("_", " ") + " (" + endpoint + ")", value, "warn", endpoint + ".reasons." + name]));
    bars(byId("reasons"), "Reasons", reasons.sort((a, b) => b[1] - a[1]).slice(0, 12));
    let low = 0;
    const sizes = report.commit_requests.buckets.map(([bound, value]) => {
      const name = bound === null ? "over " + low : low + 1 >= bound ? String(bound) : low + 1 + " to " + bound;
      low = bound;
      return [name, value, "one"];
    });
    bars(byId("batches"), "Requests in one commit", sizes.filter((row) => row[1] > 0));
  }

  /** A share of something that can run out. */
  function gauge(name, used, limit, warnAt) {
    const share = limit > 0 ? Math.min(1, used / limit) : 0;
    const bar = element("span", { class: "bar " + (share >= warnAt ? "bad" : "one") });
    bar.style.width = 100 * share + "%";
    const track = element("div", { class: "track", role: "meter", "aria-label": name, "aria-valuemin": "0", "aria-valuemax": "100",
      "aria-valuenow": String(Math.round(100 * share)) }, bar);
    return element("div", {}, element("p", { class: "muted" }, name + ": " + bytes(used) + " of " + bytes(limit) + ", " + Math.round(100 * share) + " %"), track);
  }

  function showRoom(report) {
    const parts = [];
    const queue = report.queue, ledger = report.ledger;
    if (queue) parts.push(gauge("Queue, to the mark where 503 begins", queue.bytes_used, queue.bytes_mark, 0.8));
    if (queue && queue.disk_bytes) parts.push(gauge("Disk", queue.disk_bytes - queue.disk_free_bytes, queue.disk_bytes, 0.95));
    if (ledger && ledger.bytes_map) parts.push(gauge("Ledger's map (grows by itself)", ledger.bytes_used, ledger.bytes_map, 2));
    if (queue && queue.lanes.count) parts.push(gauge("Lanes, to be moved to the queue", queue.lanes.bytes_used, queue.lanes.bytes_all, 0.8));
    if (queue) parts.push(element("p", { class: "muted" }, count(queue.idempotency_rows) + " idempotency keys kept"));
    if (!parts.length) parts.push(element("p", { class: "muted" }, "not known: the store is not open"));
    byId("room").replaceChildren(...parts);
  }

  function showAccounts(report) {
    if (!report.accounts.length) {
      byId("accounts").replaceChildren(element("p", { class: "muted" }, "no account has sent anything yet"));
      return;
    }
    const rows = report.accounts.map((use) => {
      const current = use.reset > Date.parse(report.time) / 1000;
      const used = current ? use.used : 0;
      const share = use.limit ? Math.min(1, used / use.limit) : 0;
      const bar = element("span", { class: "bar " + (share >= 1 ? "bad" : share >= 0.8 ? "warn" : "one") });
      bar.style.width = 100 * share + "%";
      return element("tr", {}, element("th", { scope: "row" }, use.account || "slot " + use.slot),
        element("td", { class: "b", "aria-hidden": "true" }, element("div", { class: "track" }, bar)),
        element("td", { class: "n" }, use.limit ? count(used) + " / " + count(use.limit) : "unlimited"),
        element("td", { class: "n" }, use.limited ? count(use.limited) + " × 429" : ""));
    });
    byId("accounts").replaceChildren(element("table", { "aria-label": "Rate limit use" }, ...rows));
  }

  function showLedger(report) {
    const worker = report.worker, ledger = report.ledger;
    if (!worker) {
      byId("ledger").replaceChildren(element("p", { class: "muted" }, "not known: the store is not open"));
      bars(byId("anomalies"), "Anomalies", []);
      return;
    }
    const rows = [["orders", ledger.orders, "ledger.orders"], ["journal entries", ledger.journal_entries, "ledger.journal_entries"],
      ...["applied", "stale", "duplicate", "dead", "catalog", "commands", "clicks"].map((name) => [name, worker[name], "worker." + name]),
      ["attribution left", worker.attribution_left, "worker.attribution_left"]];
    byId("ledger").replaceChildren(element("table", { "aria-label": "Ledger" }, ...rows.map(([name, value, path]) =>
      element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "n", "data-path": path, "data-value": value }, count(value))))));
    const kinds = [
      ...Object.entries(ledger.anomalies_by_kind).map(([name, value]) => [name, value, "warn", "ledger.anomalies_by_kind." + name]),
      ...Object.entries(ledger.dead_by_kind).map(([name, value]) => ["dead letter: " + name, value, "bad", "ledger.dead_by_kind." + name])];
    bars(byId("anomalies"), "Anomalies and dead letters", kinds.filter((row) => row[1] > 0));
  }

  // ---- The page --------------------------------------------------------------------------------

  const age = (from, to) => (from ? duration(Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)) + " ago" : "never");

  function showProblems(report) {
    byId("problems").replaceChildren(...report.problems.map((problem) =>
      element("li", { class: "problem " + problem.severity },
        element("b", {}, (problem.severity === "critical" ? "Critical: " : "Warning: ") + problem.code.replaceAll("_", " ")), ...sentence(problem.message))));
    const pill = byId("ready");
    pill.textContent = report.ready ? "ready" : "not ready: " + report.not_ready_reason.replaceAll("_", " ");
    pill.className = "pill " + (report.ready ? "good" : "bad");
    document.title = (report.problems.length ? "(" + report.problems.length + ") " : "") + "sluice";
  }

  function showTiles(report, before) {
    const last = report.history.at(-1);
    const accepted = (at) => at.events.results.accepted + at.catalog.results.accepted;
    const seconds = before ? (Date.parse(report.time) - Date.parse(before.time)) / 1000 : 0;
    const now = seconds > 0 ? Math.max(0, accepted(report) - accepted(before)) / seconds
      : last && last.seconds ? (last.accepted_events + last.accepted_catalog) / last.seconds : 0;
    byId("rate").textContent = rate(now);
    byId("rate-note").textContent = count(accepted(report)) + " since " +
      (report.server.counters_since ? new Date(report.server.counters_since).toLocaleString() : "the start");
    byId("commit").textContent = last && last.commits ? duration(last.commit_p99) : duration(report.commit_seconds.p99);
    byId("commit-note").textContent = "p50 " + duration(last && last.commits ? last.commit_p50 : report.commit_seconds.p50) +
      (last && last.commits ? ", last 5 s" : ", since start");
    byId("depth-note").textContent = !report.queue ? "the store is not open"
      : report.queue.depth ? "oldest " + duration(report.queue.oldest_age_seconds) + " old" : "all applied";
    byId("worker").textContent = report.worker ? report.worker.state : "–";
    byId("worker-note").textContent = report.worker ? "sign of life " + age(report.worker.heartbeat_at, report.time) : "not known";
  }

  function show(report, before) {
    showProblems(report);
    showTiles(report, before);
    const now = Date.parse(report.time) / 1000;
    const points = report.history.filter((point) => now - point.time <= 15 * 60);
    for (const chart of charts) chart.show(points, now);
    showResults(report);
    showRoom(report);
    showAccounts(report);
    showLedger(report);
    for (const node of document.querySelectorAll("[data-path]")) {
      const value = lookUp(report, node.dataset.path);
      node.textContent = value == null ? "–" : count(value);
      node.dataset.value = value == null ? "" : value;
    }
    byId("versions").textContent = "Module " + report.server.version + ", nginx " + report.server.nginx +
      (report.worker && report.worker.version !== "0.0.0" ? ", worker " + report.worker.version : "") +
      ". " + report.server.workers + " nginx worker(s). Store " + report.server.store + (report.server.uuid ? " (" + report.server.uuid + ")" : "") + ".";
    document.body.dataset.time = report.time;
  }

  let shown = null, paused = false, lastAnswer = Date.now(), timer = 0;

  async function poll() {
    clearTimeout(timer);
    try {
      const response = await fetch(base + "status.json", { cache: "no-store" });
      if (!response.ok) throw new Error("status " + response.status);
      const report = await response.json();
      show(report, shown);
      shown = report;
      lastAnswer = Date.now();
      document.body.classList.remove("old");
      byId("since").textContent = "as of " + new Date(report.time).toLocaleTimeString();
    } catch (error) {
      document.body.classList.add("old");
      byId("since").textContent = "no answer for " + duration((Date.now() - lastAnswer) / 1000) + " (" + error.message + ")";
    }
    if (!paused && !document.hidden) timer = setTimeout(poll, POLL_MS);
  }

  byId("pause").addEventListener("click", () => {
    paused = !paused;
    byId("pause").textContent = paused ? "Go on" : "Pause";
    byId("pause").setAttribute("aria-pressed", String(paused));
    if (paused) clearTimeout(timer); else poll();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) poll(); });
  addEventListener("resize", () => charts.forEach((chart) => chart.draw()));
  for (const link of document.querySelectorAll("footer a")) link.href = base + link.getAttribute("href");
  poll();
})();
