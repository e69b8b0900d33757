// What is wrong, in words: once each, with what to do about it.

export class Problems extends EventTarget {
  list = [];

  /** `level` is "error" (it does not play), "warning" (a part of it does not) or "note". */
  add(level, id, title, text = "", hint = "") {
    const known = this.list.find(problem => problem.id === id);
    if (known) {
      known.count += 1;
      if (known.text === text && known.title === title) return;
      Object.assign(known, { title, text, hint });
    } else this.list.push({ level, id, title, text, hint, count: 1 });
    this.dispatchEvent(new Event("change"));
  }

  /** A `Fault`, or an error of the page itself. */
  fault(level, id, error) {
    this.add(level, id, error.title ?? "The page itself has failed", error.title ? error.text : `${error.name}: ${error.message}`,
      error.title ? error.hint : "Please report this, with the stream if you can.");
  }

  remove(id) {
    const before = this.list.length;
    this.list = this.list.filter(problem => problem.id !== id);
    if (this.list.length < before) this.dispatchEvent(new Event("change"));
  }

  clear() {
    this.list = [];
    this.dispatchEvent(new Event("change"));
  }
}
