#!/usr/bin/env python3
"""Records the real program in a terminal and writes docs/images/demo.svg.

    cargo build --release
    pip install pyte==0.8.2
    python3 tests/recording.py target/release/compline

Two parts: `compline demo`, and a gateway that is killed with `kill -9` in the middle of an answer.
The model of the second part is a slow server in this script. Nothing but loopback is contacted.
"""

import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyte

COLUMNS, ROWS = 80, 32
SHELL_ROWS = 7
CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 14
# Seconds: output that belongs together, the longest pause shown, the pause at the end.
SETTLE, LONGEST_PAUSE, LAST_PAUSE = 0.04, 1.8, 4.0
COLORS = {
    "default": "#d7dae0", "black": "#5c6370", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#ffffff",
}
DIM = "#7f8693"
ANSWER = (
    "Nora arrives on Friday at four. Lentils need no soaking, so start the soup at five: rinse them, fry an "
    "onion with cumin, add a litre of water and let it simmer for twelve minutes. Lemon goes in last. "
    "No nuts in anything, and the bread from Thursday is fine for toast."
)


class Screen(pyte.Screen):
    """A screen that also knows dim text, which pyte leaves out."""

    dim = False

    def select_graphic_rendition(self, *attributes, **private):
        for code in attributes or (0,):
            self.dim = {0: False, 2: True, 22: False}.get(code, self.dim)
        super().select_graphic_rendition(*attributes, **private)
        if self.dim:
            self.cursor.attrs = self.cursor.attrs._replace(fg="dim")
        elif self.cursor.attrs.fg == "dim":
            self.cursor.attrs = self.cursor.attrs._replace(fg="default")


class Pane:
    """A program in a pseudo-terminal of its own."""

    def __init__(self, rows, argv, env):
        self.screen = Screen(COLUMNS, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
        self.is_open = True

    def read(self):
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.is_open = bool(data)
        self.stream.feed(data)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def lines(self):
        """Returns the lines of the screen, each as a tuple of (column, text, colour, bold)."""
        return [self.line(row) for row in range(self.screen.lines)]

    def line(self, row):
        """Returns the words of a line in runs of one style; a run has no two spaces in a row."""
        runs = []
        for column in range(COLUMNS):
            cell = self.screen.buffer[row][column]
            style = (cell.fg, cell.bold)
            start, text = runs[-1][:2] if runs else (0, "")
            if runs and runs[-1][2:] == style and start + len(text) == column and not (text + cell.data).endswith("  "):
                runs[-1] = (start, text + cell.data, *style)
            elif cell.data != " ":
                runs.append((column, cell.data, *style))
        return tuple(runs)


class Film:
    """Frames with the times at which they appear."""

    def __init__(self):
        self.frames = []
        self.clock = 0.0
        self.last = time.monotonic()

    def add(self, lines):
        now = time.monotonic()
        self.clock += min(now - self.last, LONGEST_PAUSE)
        self.last = now
        if not self.frames or self.frames[-1][1] != lines:
            self.frames.append((self.clock, lines))

    def hold(self, seconds):
        self.clock += seconds
        self.last = time.monotonic()


def watch(film, panes, until, limit=120):
    """Adds a frame whenever a screen has changed and settled, until the condition holds."""
    end = time.monotonic() + limit
    while not until():
        if time.monotonic() > end:
            sys.exit("\n".join(["Waited in vain. The screens:", *(line for pane in panes for line in pane.screen.display)]))
        waiting = [pane.terminal for pane in panes if pane.is_open]
        ready = select.select(waiting, [], [], SETTLE)[0]
        for pane in panes:
            if pane.terminal in ready:
                pane.read()
        if not ready:
            film.add(joined(panes))
    film.add(joined(panes))


def joined(panes):
    lines = panes[0].lines()
    for pane in panes[1:]:
        lines += [((0, "─" * COLUMNS, "dim", False),), *pane.lines()]
    return lines


def shows(pane, text):
    return lambda: text in " ".join("\n".join(line.rstrip() for line in pane.screen.display).split())


class SlowModel(BaseHTTPRequestHandler):
    """Streams one answer word by word, as a language model does."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            time.sleep(1.5)
            for word in ANSWER.split(" "):
                time.sleep(0.11)
                self.event({"choices": [{"delta": {"content": word + " "}, "index": 0}]})
            self.event({"choices": [{"delta": {}, "index": 0, "finish_reason": "stop"}]})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass

    def event(self, value):
        self.wfile.write(b"data: " + json.dumps({"object": "chat.completion.chunk", **value}).encode() + b"\n\n")
        self.wfile.flush()


def play_the_month(film, program, env):
    month = Pane(ROWS, [program, "demo"], env)
    watch(film, [month], lambda: not month.is_open)
    os.waitpid(month.pid, 0)


def play_the_kill(film, program, env, home):
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (home / "compline.toml").write_text(
        f'timezone = "Europe/Vienna"\n\n[model]\nprovider = "openai"\nname = "slow"\napi_key = "none"\n'
        f'base_url = "http://127.0.0.1:{server.server_port}/v1"\n\n[[people]]\nname = "Ada"\nrole = "owner"\n'
    )
    shell = Pane(SHELL_ROWS, ["/bin/bash", "--norc", "--noprofile", "-i"], env)
    shell.type("compline run &\r")
    watch(film, [shell], shows(shell, "Ready"), 30)
    chat = Pane(ROWS - SHELL_ROWS - 1, [program, "chat"], env)
    panes = [chat, shell]
    watch(film, panes, shows(chat, "Ada>"), 30)
    for letter in "What do I cook on Friday?":
        chat.type(letter)
        deadline = time.monotonic() + 0.05
        watch(film, panes, lambda: time.monotonic() > deadline)
    chat.type("\r")
    watch(film, panes, shows(chat, "simmer"), 30)
    shell.type("kill -9 %1; wait\r")
    watch(film, panes, shows(chat, "Connecting again"), 30)
    film.hold(1)
    shell.type("compline run &\r")
    watch(film, panes, shows(chat, "toast."), 60)
    film.hold(LAST_PAUSE)
    chat.type("\x04")
    shell.type("kill %1; wait; exit\r")
    watch(Film(), panes, lambda: not shell.is_open, 30)


def svg(film):
    lines, strips = {}, []
    for number, (_, frame) in enumerate(film.frames):
        uses = []
        for row, runs in enumerate(frame):
            if runs:
                name = lines.setdefault(runs, f"l{len(lines)}")
                uses.append(f'<use href="#{name}" y="{row * CELL_HEIGHT}"/>')
        strips.append(f'<g transform="translate(0 {number * ROWS * CELL_HEIGHT})">{"".join(uses)}</g>')
    total = film.clock
    steps = "".join(
        f"{at / total:.3%}{{transform:translateY(-{number * ROWS * CELL_HEIGHT}px)}}"
        for number, (at, _) in enumerate(film.frames)
    )
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, ROWS * CELL_HEIGHT + 2 * MARGIN
    defined = "".join(f'<text xml:space="preserve" id="{name}">{"".join(map(span, runs))}</text>' for runs, name in lines.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
        "<title>A month with Compline, and a kill -9 in the middle of an answer</title>"
        f"<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;"
        f"fill:{COLORS['default']};dominant-baseline:text-before-edge}}.b{{font-weight:bold}}"
        f"#film{{animation:play {total:.1f}s steps(1,end) infinite}}@keyframes play{{{steps}}}"
        "@media(prefers-reduced-motion){#film{animation-play-state:paused}}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#1b1d23"/><defs>{defined}</defs>'
        f'<svg x="{MARGIN}" y="{MARGIN}" width="{COLUMNS * CELL_WIDTH:g}" height="{ROWS * CELL_HEIGHT}">'
        f'<g id="film">{"".join(strips)}</g></svg></svg>\n'
    )


def span(run):
    column, text, color, bold = run
    fill = "" if color == "default" else f' fill="{DIM if color == "dim" else COLORS.get(color, COLORS["default"])}"'
    weight = ' class="b"' if bold else ""
    return f'<tspan x="{column * CELL_WIDTH:g}"{fill}{weight}>{escape(text.rstrip())}</tspan>'


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(tempfile.mkdtemp())
    # The path is seen in the recording.
    home = pathlib.Path("/tmp/compline")
    home.mkdir()
    env = {
        "COMPLINE_HOME": str(home), "HOME": str(folder), "TMPDIR": str(folder), "TERM": "xterm", "LANG": "C.UTF-8",
        "PATH": f"{pathlib.Path(program).parent}:/usr/bin:/bin", "PS1": "$ ",
    }
    film = Film()
    try:
        play_the_month(film, program, env)
        film.hold(LAST_PAUSE)
        play_the_kill(film, program, env, home)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)
    target = pathlib.Path(__file__).parents[1] / "docs/images/demo.svg"
    target.write_text(svg(film))
    print(f"{target.name}: {film.clock:.0f} s, {len(film.frames)} frames, {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main()
