"""Chromium with Clear Key: plays files by Media Source Extensions and as the source of an element, without
a player library (player.html), and says whether they play to their end.

A file counts as played if it comes to its end without an error and all of its pictures were decoded. A wrong
key is tried as well: that must not play.
"""

import base64
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

from programs import Failed, Missing, named

LIMIT = 240  # seconds for all files


class Chromium:
    name = "Chromium"

    def __init__(self):
        self.missing = self.version = None
        try:
            self.path = named("CHROMIUM", [shutil.which("chromium")], "Debian: chromium")
        except Missing as why:
            self.missing = str(why)
            return
        done = subprocess.run([self.path, "--version"], capture_output=True, text=True)
        self.version = re.search(r"[\d.]+", done.stdout).group()

    def play(self, folder, plays):
        """None for each that plays, or why it does not."""
        results, done = [], threading.Event()

        def take(answer):
            results.extend(answer)
            done.set()

        handler = functools.partial(Handler, folder, [play.data() for play in plays], take)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as profile:
            command = [
                self.path, "--headless=new", "--autoplay-policy=no-user-gesture-required", "--disable-gpu",
                f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/",
            ]  # fmt: skip
            if os.geteuid() == 0:
                command.insert(1, "--no-sandbox")
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            browser = subprocess.Popen(command, start_new_session=True, **quiet)
            in_time = done.wait(LIMIT)
            browser.terminate()
            browser.wait()
            server.shutdown()
        if not in_time:
            raise Failed(f"no result after {LIMIT} s")
        return results


class Play:
    """Files that are played together: one, or one for each track."""

    def __init__(self, how, clips):
        self.how, self.clips = how, clips

    def data(self):
        files = [{"name": clip.path.name, "type": media_type(clip)} for clip in self.clips]
        pairs = dict(pair for clip in self.clips for pair in clip.keys)
        if self.how.endswith("wrong key"):
            pairs = {kid: kid for kid in pairs}
        keys = [{"kty": "oct", "kid": base64url(kid), "k": base64url(key)} for kid, key in pairs.items()]
        return {"how": self.how, "files": files, "keys": keys}

    def wrong(self, bench, result):
        """None if everything was played, or what is wrong."""
        if error := result.get("error"):
            return re.sub(r": \{.*\}", "", error)  # the number of a packet and the like
        for clip in self.clips:
            streams = dict(zip(clip.streams(), bench.clear(clip.name)))
            if (pictures := len(streams.get("video", ()))) != result["frames"] and pictures:
                return f"{result['frames']} of {pictures} pictures"
            if "audio" in streams and not result["audio"]:
                return "no sound"
        return None


def base64url(digits):
    return base64.urlsafe_b64encode(bytes.fromhex(digits)).decode().rstrip("=")


def media_type(clip):
    """The MIME type with the codecs of the tracks (RFC 6381)."""
    codecs = {"ac3": "ac-3", "eac3": "ec-3", "aac": "mp4a.40.2", "hevc": "hvc1.1.6.L93.B0"}
    if clip.name in codecs or not clip.name.startswith("avc"):
        codec = codecs.get(clip.name, clip.name)
    else:
        data = clip.path.read_bytes()
        at = data.index(b"avcC") + 5
        codec = f"avc1.{data[at:at + 3].hex()}"
        if clip.name == "avc_aac":
            codec += ",mp4a.40.2"
    kind = "video" if "video" in clip.streams() else "audio"
    return f'{kind}/mp4; codecs="{codec}"'


class Handler(http.server.SimpleHTTPRequestHandler):
    """Gives the page, what is to be played, and the files; takes the results."""

    def __init__(self, folder, plays, take, *arguments):
        self.plays, self.take = plays, take
        super().__init__(*arguments, directory=str(folder))

    def do_GET(self):
        if self.path == "/":
            self.answer("text/html", pathlib.Path(__file__).with_name("player.html").read_bytes())
        elif self.path == "/plays":
            self.answer("application/json", json.dumps(self.plays).encode())
        else:
            super().do_GET()

    def do_POST(self):
        self.take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer("text/plain", b"")

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
