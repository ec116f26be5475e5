// Charts as SVG, with a cursor for pointer and keyboard, and a sentence for screen readers.
import { drawn, element } from "./dom.js";

const HIGH = 150, TOP = 8, BOTTOM = HIGH - 18;

function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 6, 8, 10].map((step) => step * power).find((top) => top >= value);
}

/**
 * Frame of a chart: scale, legend and cursor. A subclass places the points and draws the series.
 *
 * series: [{name, color, value(point), text(point): its exact value, if `format` shortens it}];
 * words(point): when the point was.
 */
class Chart {
  constructor(box, label, format, series) {
    Object.assign(this, { box, label, format, series, at: null, points: null, left: 54 });
    this.svg = drawn("svg", { role: "img", tabindex: "0" });
    this.legend = element("p", { class: "legend" });
    this.box.append(this.svg, this.legend);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.move(null));
    this.svg.addEventListener("blur", () => this.move(null));
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }
  point(event) {
    if (!this.points) return;
    const x = event.clientX - this.svg.getBoundingClientRect().left;
    let best = null;
    this.points.forEach((point, i) => {
      if (best === null || Math.abs(this.x(point, i) - x) < Math.abs(this.x(this.points[best], best) - x)) best = i;
    });
    this.move(best);
  }
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.points || !this.points.length) return;
    event.preventDefault();
    const last = this.points.length - 1;
    this.move(Math.min(last, Math.max(0, (this.at === null ? this.first(last, step) : this.at) + step)));
  }
  /** The point before the first step of the keyboard. */
  first(last) {
    return last;
  }
  move(index) {
    this.at = index;
    this.draw();
  }
  y(value) {
    return BOTTOM - (BOTTOM - TOP) * ((value - this.low) / (this.high - this.low));
  }
  draw() {
    if (!this.points) return;
    this.width = this.svg.clientWidth || 320;
    this.scale();
    const isRoomy = (mark) => mark === 0 || Math.abs(this.y(mark) - this.y(0)) > 13;
    const marks = [this.low, 0, this.high / 2, this.high].filter((mark, i) => (i ? isRoomy(mark) : mark < 0 && isRoomy(mark)));
    this.left = 14 + 6.2 * Math.max(...marks.map((mark) => this.format(mark).length));
    const parts = marks.flatMap((mark) => [
      drawn("line", { class: "grid", x1: this.left, x2: this.width - 4, y1: this.y(mark), y2: this.y(mark) }),
      drawn("text", { x: this.left - 6, y: this.y(mark) + 4, "text-anchor": "end" }, this.format(mark))]);
    for (const [x, anchor, text] of this.ticks()) {
      parts.push(drawn("text", { x, y: HIGH - 3, "text-anchor": anchor }, text));
    }
    parts.push(...this.drawSeries());
    const index = this.at === null ? this.resting() : Math.min(this.at, this.points.length - 1);
    const shown = index === null ? undefined : this.points[index];
    if (shown && this.at !== null) {
      const x = this.x(shown, index);
      parts.push(drawn("line", { class: "cursor", x1: x, x2: x, y1: 4, y2: BOTTOM }));
    }
    this.svg.setAttribute("viewBox", "0 0 " + this.width + " " + HIGH);
    this.svg.replaceChildren(...parts);
    this.describe(shown);
  }
  /** Index of the point that the legend describes while none is chosen. */
  resting() {
    return this.points.length ? this.points.length - 1 : null;
  }
  describe(shown) {
    const texts = [];
    const items = this.series.map((series) => {
      const value = !shown ? "–" : series.text ? series.text(shown) : this.format(series.value(shown));
      texts.push(series.name + " " + value);
      return element("span", {}, element("i", { class: series.color }), series.name + " ", element("b", {}, value));
    });
    const when = shown ? this.words(shown, this.at !== null) : "";
    this.legend.replaceChildren(...items, element("span", { class: "muted" }, when));
    this.svg.setAttribute("aria-label", this.label + ", " + when + ": " + texts.join(", "));
  }
}

/** Lines over the last minutes. Points have `time` in seconds. */
export class LineChart extends Chart {
  show(points, now) {
    this.points = points;
    this.now = now;
    this.draw();
  }
  scale() {
    this.low = 0;
    this.high = niceTop(Math.max(0, ...this.points.flatMap((p) => this.series.map((s) => s.value(p)))));
  }
  x(point) {
    const span = 15 * 60;
    return this.left + (this.width - this.left - 4) * (1 - Math.min(span, this.now - point.time) / span);
  }
  ticks() {
    return [15, 10, 5, 0].map((minutes) => [this.x({ time: this.now - minutes * 60 }),
      minutes === 15 ? "start" : minutes ? "middle" : "end", minutes ? "−" + minutes + " min" : "now"]);
  }
  drawSeries() {
    return this.series.map((series) => {
      const path = this.points.map((p, i) =>
        (i ? "L" : "M") + this.x(p).toFixed(1) + " " + this.y(series.value(p)).toFixed(1));
      return drawn("path", { class: "series " + series.color, d: path.join("") });
    });
  }
  words(point, chosen) {
    return chosen ? new Date(point.time * 1000).toLocaleTimeString() : "latest";
  }
}

/**
 * Bars, one place for each point: values above zero are stacked upwards, those below zero downwards.
 * `name(point)` is its day or month; `tick(point, i)` the text below it, or nothing; `rest` the index
 * that the legend describes while no point is chosen.
 */
export class BarChart extends Chart {
  constructor(box, label, format, series, names) {
    super(box, label, format, series);
    Object.assign(this, names);
  }
  show(points) {
    this.points = points;
    this.draw();
  }
  first(last, step) {
    return step > 0 ? -1 : last + 1;
  }
  resting() {
    return this.points.length ? (this.rest ?? this.points.length - 1) : null;
  }
  scale() {
    const sum = (point, sign) =>
      this.series.reduce((total, series) => total + Math.max(0, sign * series.value(point)), 0);
    const above = Math.max(0, ...this.points.map((point) => sum(point, 1)));
    const below = Math.max(0, ...this.points.map((point) => sum(point, -1)));
    this.high = niceTop(above);
    this.low = below > 0 ? -niceTop(below) : 0;
    if (above === 0 && below > 0) this.high = -this.low / 8;
  }
  slot() {
    return (this.width - this.left - 4) / Math.max(1, this.points.length);
  }
  x(_, index) {
    return this.left + this.slot() * (index + 0.5);
  }
  ticks() {
    return this.points.flatMap((point, i) => {
      const text = this.tick(point, i);
      return text ? [[this.x(point, i), "middle", text]] : [];
    });
  }
  drawSeries() {
    const wide = Math.max(1, Math.min(28, this.slot() * 0.72));
    return this.points.flatMap((point, i) => {
      let up = 0, down = 0;
      const faint = this.at !== null && this.at !== i ? " faint" : "";
      return this.series.flatMap((series) => {
        const value = series.value(point);
        if (!value) return [];
        const from = value > 0 ? up : down, to = from + value;
        if (value > 0) up = to; else down = to;
        const top = this.y(Math.max(from, to)), height = Math.max(1, this.y(Math.min(from, to)) - top);
        return [drawn("rect", { class: "column " + series.color + faint, x: (this.x(point, i) - wide / 2).toFixed(1),
          y: top.toFixed(1), width: wide.toFixed(1), height: height.toFixed(1), rx: Math.min(2, wide / 4) })];
      });
    });
  }
  words(point) {
    return this.name(point);
  }
}
