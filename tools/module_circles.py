"""Finds circles among the files of a crate: files that use one another's items.

A file *uses* the file that defines an item which it names, by `use` or by a path that
begins with `crate`, `self`, `super`, a module of its own or an imported module.
- Re-exports are looked through: who names an item by way of a parent's `pub use` uses the
  file that defines it. An item that a macro defines counts as the module's where it is named.
- Declaring a module, and re-exporting an item that the file does not name otherwise, is no use.
- A child is a part of its parent, whose private items it may name: what a file takes from the
  file that declares it (`super::...`) does not count, so parents may use their children.
- What is compiled for tests alone (`#[cfg(test)]`) does not count.

Methods and macros by example need no path and are not seen, nor are modules whose file a
`path` attribute gives.
"""

import collections
import pathlib
import re
import tempfile

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*)|(?P<raw>b?c?r(?P<hashes>\#*)")|(?P<text>[bc]?"(?:[^"\\]|\\.)*")"""
    r"""|(?P<char>b?'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x..|.))')|(?P<life>'\w+)|(?P<word>(?:r\#)?\w+)|(?P<sign>::|.)""",
    re.DOTALL | re.VERBOSE)
WORD = re.compile(r"[^\W\d]\w*$")
DEFINES = {"fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"}
CLOSES = {"{": "}", "(": ")", "[": "]"}


def tokens(text):
    at, out = 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        at = match.end()
        if match["raw"]:
            at = text.index('"' + match["hashes"], at) + 1 + len(match["hashes"])
        elif match["skip"] == "/*":
            depth = 1
            while depth:
                mark = re.compile(r"/\*|\*/").search(text, at)
                depth += 1 if mark[0] == "/*" else -1
                at = mark.end()
        elif match["word"] or match["sign"]:
            out.append(match[0].removeprefix("r#"))
    return out


def group_end(code, at):
    """The place behind the group that opens at `at`."""
    depth = 0
    while True:
        depth += (code[at] in "{([") - (code[at] in "})]")
        at += 1
        if depth == 0:
            return at


def item_end(code, at):
    """The place behind the item that starts at `at`, where its attributes have ended."""
    to_semicolon = code[at:at + 1] != ["pub"] and code[at] in {"use", "const", "static", "let"} and code[at + 1] != "fn"
    while code[at] != ";":
        if code[at] in CLOSES:
            braces = code[at] == "{"
            at = group_end(code, at)
            if braces and not to_semicolon:
                return at
        else:
            at += 1
    return at + 1


def for_tests_alone(attribute):
    """Whether it is `cfg(test)`, or `cfg(all(...))` with `test` itself among the conditions."""
    if attribute == ["cfg", "(", "test", ")"]:
        return True
    if attribute[:4] != ["cfg", "(", "all", "("]:
        return False
    depth = 0
    for token in attribute:
        depth += (token == "(") - (token == ")")
        if token == "test" and depth == 2:
            return True
    return False


def without_tests(code):
    """The code without the items that carry `#[cfg(test)]`."""
    out, at = [], 0
    while at < len(code):
        if code[at:at + 2] == ["#", "["]:
            end = group_end(code, at + 1)
            if for_tests_alone(code[at + 2:end - 1]):
                while code[end:end + 2] == ["#", "["]:
                    end = group_end(code, end + 1)
                at = item_end(code, end)
                continue
        out.append(code[at])
        at += 1
    return out


def leaves(tree):
    """The paths of a `use`, as (path, the name it binds: `*` for all)."""
    path, at = [], 0
    while at < len(tree):
        if tree[at] == "{":
            inner, start, depth = tree[at + 1:group_end(tree, at) - 1], 0, 0
            for i, token in enumerate([*inner, ","]):
                depth += (token == "{") - (token == "}")
                if token == "," and depth == 0:
                    part = inner[start:i]
                    if part[:1] == ["self"]:
                        yield path, part[-1] if len(part) > 1 else path[-1]
                    elif part:
                        yield from ((path + tail, name) for tail, name in leaves(part))
                    start = i + 1
            return
        if tree[at] == "*":
            yield path, "*"
            return
        if tree[at] == "as":
            yield path, tree[at + 1]
            return
        if tree[at] not in {"::", "$"}:
            path.append(tree[at])
        at += 1
    yield path, path[-1]


class Module:
    def __init__(self, crate, name, parent, file):
        self.crate, self.name, self.parent, self.file = crate, name, parent, file
        self.children, self.items, self.imports, self.globs = {}, set(), {}, []
        self.paths = []  # Those that the file names, but for re-exports.
        crate.modules.append(self)

    def read(self, code, folder):
        """Takes in the items of a module whose submodules' files are in `folder`."""
        at, start, file = 0, True, None
        while at < len(code):
            token = code[at]
            if code[at:at + 2] == ["#", "["] or code[at:at + 3] == ["#", "!", "["]:
                at = group_end(code, code.index("[", at))
                continue
            if token == "use":
                end = code.index(";", at)
                public = self.is_public(code, at)
                for path, name in leaves(code[at + 1:end]):
                    self.bind(path, name, public)
                at = end + 1
            elif token == "mod" and at + 2 < len(code) and code[at + 2] in {";", "{"}:
                child = code[at + 1]
                if code[at + 2] == "{":
                    end = group_end(code, at + 2)
                    inner = Module(self.crate, child, self, self.file)
                    self.children[child] = inner
                    inner.read(code[at + 3:end - 1], folder / child)
                    at = end
                else:
                    self.children[child] = self.crate.load(child, self, folder)
                    at += 3
            elif token in DEFINES and at + 1 < len(code):
                name = code[at + 2] if token == "macro_rules" else code[at + 1]
                self.items.add(name)
                at += 1
            elif code[at:at + 2] == ["extern", "crate"]:
                at = code.index(";", at) + 1  # No block: the next one is another item's.
            elif token in {"impl", "trait", "extern"} or token == "{":
                # Names inside are no items of the module, but paths there count.
                opening = code.index("{", at) if "{" in code[at:] else len(code) - 1
                for i in range(at, opening):
                    self.path_at(code, i)
                end = group_end(code, opening) if code[opening] == "{" else len(code)
                self.body(code[opening:end])
                at = end
            else:
                self.path_at(code, at)
                at += 1

    def parent_file(self):
        """The file that declares this module's."""
        here = self
        while here.parent and here.file == self.file:
            here = here.parent
        return here.file

    @staticmethod
    def is_public(code, at):
        return at > 0 and (code[at - 1] == "pub" or code[at - 1] == ")" and "pub" in code[max(0, at - 6):at])

    def body(self, code):
        at = 0
        while at < len(code):
            if code[at] == "use" and code[at - 1] in {"{", "}", ";"}:
                end = code.index(";", at)
                for path, name in leaves(code[at + 1:end]):
                    self.bind(path, name, False)
                at = end + 1
            else:
                self.path_at(code, at)
                at += 1

    def path_at(self, code, at):
        """Takes in the path that starts at this token, or the single name."""
        if not WORD.match(code[at]) or at > 0 and code[at - 1] in {"::", "."}:
            return
        path = [code[at]]
        while at + 2 < len(code) and code[at + 1] == "::" and WORD.match(code[at + 2]):
            at += 2
            path.append(code[at])
        self.paths.append(path)

    def bind(self, path, name, public):
        if name == "*":
            self.globs.append(path)
        elif name != "_":
            self.imports[name] = path
        if not public:
            self.paths.append(path if name != "*" else [*path, "*"])

    def find(self, path, seen=frozenset()):
        """The module and the name in it that a path leads to; None if out of the crate."""
        here, first = self, path[0]
        if first == "crate":
            here = self.crate.root
        elif first == "super":
            here = self.parent
        elif first != "self":
            return self.name_of(path, seen, local=True)
        if here is None or len(path) == 1:
            return (here, None) if here else None
        rest = path[1:]
        if rest[0] == "super":
            return here.find(rest, seen)
        return here.name_of(rest, seen)

    def name_of(self, path, seen, local=False):
        first, rest = path[0], path[1:]
        if (self, first, bool(rest)) in seen:
            return None
        seen |= {(self, first, bool(rest))}
        # A module may have the name of the function that is re-exported from it.
        if first in self.children and (rest or first not in self.imports):
            child = self.children[first]
            return child.name_of(rest, seen) if rest else (child, None)
        if first in self.items:
            return self, first
        if first in self.imports:
            found = self.find(self.imports[first], seen)
            if found and found[1] is None and rest:
                return found[0].name_of(rest, seen)
            return found
        for glob in self.globs:
            found = self.find(glob, seen)
            if found and found[1] is None:
                found = found[0].name_of(path, seen, local=True)
                if found:
                    return found
        # In a path, an item that is not found is made by a macro of the module.
        return None if local else (self, first)


# A module for tests alone, which `without_tests` leaves out with its file.
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);")

# A module whose file an attribute gives: not followed.
PATH_MODULE = re.compile(r"#\[path = [^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);")


class Crate:
    def __init__(self, root):
        self.modules = []
        # The files that were read, those of tests that need not be, and modules without a file.
        self.files, self.of_tests, self.absent = {root}, set(), []
        self.find_tests(root, root.parent)
        self.root = Module(self, "crate", None, root)
        self.root.read(without_tests(tokens(root.read_text())), root.parent)

    def load(self, name, parent, folder):
        file = folder / f"{name}.rs"
        if not file.exists():
            file = folder / name / "mod.rs"
        module = Module(self, name, parent, file)
        if file.exists():
            self.files.add(file)
            self.find_tests(file, folder / name)
            module.read(without_tests(tokens(file.read_text())), folder / name)
        elif name not in PATH_MODULE.findall(parent.file.read_text()):
            self.absent.append(f"{parent.file.name} declares {name}, which has no file")
        return module

    def find_tests(self, file, folder):
        for name in TEST_MODULE.findall(file.read_text()):
            self.of_tests |= {folder / f"{name}.rs", folder / name / "mod.rs"}

    def uses(self):
        """For each file the files it uses, with the names."""
        uses = collections.defaultdict(lambda: collections.defaultdict(set))
        for module in self.modules:
            for path in module.paths:
                if path[-1] == "*":
                    found = module.find(path[:-1])
                    found = found and (found[0], "*")
                else:
                    found = module.find(path)
                if found and found[1] and found[0].file not in {module.file, module.parent_file()}:
                    uses[module.file][found[0].file].add(found[1])
        return uses


def circles(root):
    """The circles among the files below a crate's root file: for each the files in order, each with
    the names that it takes from the next."""
    return circles_of(Crate(pathlib.Path(root)))


def unread(crates, folder):
    """Modules without a file, and files in the folder that none of the crates read: a part of the code that was not looked at."""
    for crate in crates:
        yield from crate.absent
    seen = set().union(*(crate.files | crate.of_tests for crate in crates))
    yield from (f"{file.relative_to(folder)} was not read" for file in sorted(folder.rglob("*.rs")) if file not in seen)


def circles_of(crate):
    """As `circles`, of a crate that was read."""
    uses = crate.uses()
    found, told = [], set()
    for start in sorted(uses):
        if start in told:
            continue
        # The shortest way from the file back to itself.
        before, queue = {start: None}, [start]
        for file in queue:
            if start in uses[file]:
                way = []
                while file:
                    way.append(file)
                    file = before[file]
                way.reverse()
                told.update(way)
                found.append([(a, sorted(uses[a][b])) for a, b in zip(way, way[1:] + way[:1])])
                break
            for other in sorted(uses[file] if file in uses else ()):
                if other not in before:
                    before[other] = file
                    queue.append(other)
    return found


PLANTED = {
    "a circle by way of re-exports": (["one.rs", "two.rs"], {
        "lib.rs": "mod one; mod two; pub use one::A; pub use two::B;",
        "one.rs": "use crate::B; pub struct A(B);",
        "two.rs": "pub struct B; fn f() { let _: Option<crate::A> = None; }"}),
    "a grandparent that uses its grandchild": (["lib.rs", "one/two.rs"], {
        "lib.rs": "mod one; pub use one::A; pub struct B(A);",
        "one/mod.rs": "mod two; pub use two::A;",
        "one/two.rs": "pub struct A; impl A { fn f(_: &crate::B) {} }"}),
    "a parent that uses its child": ([], {
        "lib.rs": "mod one; pub use one::A; pub struct B(A);",
        "one.rs": "pub struct A; impl A { fn f(_: &super::B) {} }"}),
    "a circle of three, through modules": (["one.rs", "two/mod.rs", "two/three.rs"], {
        "lib.rs": "mod one; mod two;",
        "one.rs": "use crate::two; pub fn f() { two::g() }",
        "two/mod.rs": "mod three; pub fn g() { three::h() }",
        "two/three.rs": "use crate::one::{self}; pub fn h() { one::f() }"}),
    "a module with the name of its function": (["one/one.rs", "two.rs"], {
        "lib.rs": "mod one; mod two;",
        "one/mod.rs": "mod one; pub use one::one;",
        "one/one.rs": "pub fn one() { crate::two::two() }",
        "two.rs": "use crate::one; pub fn two() { one::one() }"}),
    "a circle behind `extern crate`": (["one.rs", "two.rs"], {
        "lib.rs": "extern crate alloc; mod one; mod two; pub fn f() {}",
        "one.rs": "use crate::two::B; pub struct A(B);",
        "two.rs": "use crate::one::A; pub struct B(A);"}),
    "a circle in what is compiled for a feature too": (["one.rs", "two.rs"], {
        "lib.rs": "mod one; mod two;",
        "one.rs": "#[cfg(any(test, feature = \"x\"))] use crate::two::B; pub struct A;",
        "two.rs": "use crate::one::A; pub struct B(A);"}),
    "a circle in tests alone": ([], {
        "lib.rs": "mod one; mod two;",
        "one.rs": "#[cfg(all(test, feature = \"x\"))] use crate::two::B; pub struct A;",
        "two.rs": "use crate::one::A; pub struct B(A);"}),
    "a parent that re-exports its children": ([], {
        "lib.rs": "mod one; mod two; pub use {one::A, two::B}; pub const C: u8 = 0; // one::f()",
        "one.rs": "use crate::C; pub struct A; pub const D: u8 = C; #[cfg(test)] mod tests { use crate::B; }",
        "two.rs": "//! crate::one\nuse crate::A; pub struct B(A); const S: &str = \"crate::C\";"}),
}


# What is not read: the faults of the crate, and its files.
UNREAD = {
    "a module without a file": (["lib.rs declares two, which has no file"], {
        "lib.rs": "mod one; mod two;", "one.rs": ""}),
    "a file that no module is": (["two.rs was not read"], {"lib.rs": "mod one;", "one.rs": "", "two.rs": ""}),
    "a module elsewhere": ([], {"lib.rs": "#[path = \"../one.rs\"]\nmod one;"}),
    "modules for tests": ([], {
        "lib.rs": "mod one; #[cfg(test)]\nmod tests;", "one.rs": "#[cfg(test)] mod deep;", "one/deep.rs": "", "tests.rs": ""}),
}


def self_test():
    """Looks for planted circles and unread files; the faults of this tool."""
    for name, (expected, files) in UNREAD.items():
        got = planted(files, lambda folder: list(unread([Crate(folder / "lib.rs")], folder)))
        if got != expected:
            yield f"tools/module_circles.py: {name}: found {got}"
    for name, (expected, files) in PLANTED.items():
        got = planted(files, lambda folder: [
            sorted(str(file.relative_to(folder)) for file, _ in circle) for circle in circles(folder / "lib.rs")])
        if got != ([expected] if expected else []):
            yield f"tools/module_circles.py: {name}: found {got}"


def planted(files, look):
    """What `look` finds in a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        return look(folder)
