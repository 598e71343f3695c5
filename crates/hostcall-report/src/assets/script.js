"use strict";
// Shows what stands below the pointer, or at the arrow keys' place. Words become text, never markup.
const tip = document.getElementById("tip");
const known = new WeakMap();
const tips = (area) => {
  if (!known.has(area)) known.set(area, JSON.parse(area.dataset.tips));
  return known.get(area);
};
const hide = () => {
  tip.hidden = true;
  for (const cross of document.querySelectorAll(".cross")) cross.hidden = true;
};
const show = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = false;
  const width = document.documentElement.clientWidth;
  const left = Math.min(Math.max(8, x + 14), width - tip.offsetWidth - 8);
  const top = y - tip.offsetHeight - 14;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${top < 4 ? y + 18 : top}px)`;
};
const nearest = (at, place) => {
  let low = 0;
  let high = at.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (at[middle] <= place) low = middle;
    else high = middle;
  }
  return at[high] - place < place - at[low] ? high : low;
};
const look = (area, x, y, shape) => {
  const what = tips(area);
  const box = area.getBoundingClientRect();
  const across = Math.min(0.9999, Math.max(0, (x - box.left) / box.width));
  const down = Math.min(0.9999, Math.max(0, (y - box.top) / box.height));
  if (what.kind === "nearest" && what.at.length > 0) {
    const i = nearest(what.at, across);
    const cross = area.querySelector(".cross");
    cross.hidden = false;
    cross.style.left = `${100 * what.at[i]}%`;
    return show(what.text[i], x, y);
  }
  if (what.kind === "cells" && what.rows.length > 0) {
    const column = Math.floor(across * what.columns.length);
    const row = Math.floor(down * what.rows.length);
    const value = what.cells[row * what.columns.length + column];
    if (value > 0) return show(`${what.rows[row]}, ${what.columns[column]}\n${value.toLocaleString("en")} ${what.unit}`, x, y);
  }
  if (what.kind === "shapes" && shape) return show(what.text[shape.dataset.i], x, y);
  hide();
};
const pointed = (event) => {
  const area = event.target instanceof Element && event.target.closest(".area");
  if (area) look(area, event.clientX, event.clientY, event.target.closest("[data-i]"));
  else hide();
};
document.addEventListener("pointermove", pointed);
document.addEventListener("pointerdown", pointed);
document.addEventListener("scroll", hide, { passive: true });
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  const area = event.target instanceof Element && event.target.closest(".area");
  if (event.key === "Escape") return hide();
  if (!area || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
  event.preventDefault();
  const what = tips(area);
  const length = what.kind === "cells" ? what.columns.length * what.rows.length : what.text.length;
  if (length === 0) return;
  const step = event.key === "ArrowRight" ? 1 : -1;
  const i = ((Number(area.dataset.place ?? -1) + step) % length + length) % length;
  area.dataset.place = i;
  const box = area.getBoundingClientRect();
  if (what.kind === "nearest") return look(area, box.left + what.at[i] * box.width, box.top + 20);
  if (what.kind === "cells") {
    const columns = what.columns.length;
    const x = box.left + ((i % columns) + 0.5) / columns * box.width;
    return look(area, x, box.top + (Math.floor(i / columns) + 0.5) / what.rows.length * box.height);
  }
  const shape = area.querySelector(`[data-i="${i}"]`).getBoundingClientRect();
  show(what.text[i], shape.left, shape.top);
});
