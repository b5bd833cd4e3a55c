"""Tests of deps.py, with wheels of their own and the real pip."""

import contextlib
import io
import os
import re
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import deps


def pack(folder, name, version, files, tag="py3-none-any"):
    """Packs a wheel; gives its path."""
    path = folder / f"{name}-{version}-{tag}.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, (text, mode) in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = mode << 16
            wheel.writestr(entry, text)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


class Deps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.index = self.folder / "index"
        self.index.mkdir()
        for name, value in (("WHEELS", self.folder / "wheels"), ("BUILD", self.folder)):
            patch = mock.patch.object(deps, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        # pip looks into this folder, and nowhere else.
        patch = mock.patch.dict(os.environ, {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index)})
        patch.start()
        self.addCleanup(patch.stop)
        quiet = contextlib.redirect_stdout(io.StringIO())
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)

    def pin(self, path, sha256=None):
        name, version, tag = path.name[:-4].split("-", 2)
        return deps.Pin(f"mlx linux-x86_64 {name} {version} {tag} {sha256 or deps.sha256(path)}")

    def wheel(self, text="one"):
        return pack(self.index, "thing", "1.0", {"thing/lib/a.txt": (text, 0o100644), "thing/bin/run": ("#!/bin/sh\n", 0o100755)})

    def test_fetches_and_unpacks(self):
        target = self.folder / "thing"
        pins = [self.pin(self.wheel())]
        self.assertTrue(deps.unpack(pins, target))
        self.assertEqual((target / "thing/lib/a.txt").read_text(), "one")
        self.assertTrue(os.access(target / "thing/bin/run", os.X_OK))
        self.assertFalse(os.access(target / "thing/lib/a.txt", os.X_OK) and os.geteuid() != 0)
        self.assertFalse(deps.unpack(pins, target), "nothing to do the second time")

    def test_old_sdk_is_no_old_system(self):
        for release, version, supported in (
            ("25.2.0", "26.2", True),
            ("25.2.0", "16.0", True),  # what a Python built with an older SDK is told
            ("26.0.0", "27.0", True),
            ("24.6.0", "15.7", False),
        ):
            with mock.patch.multiple(
                deps.platform,
                system=lambda: "Darwin",
                machine=lambda: "arm64",
                release=lambda release=release: release,
                mac_ver=lambda version=version: (version, ("", "", ""), "arm64"),
            ):
                if supported:
                    self.assertEqual(deps.host(), "macos-arm64")
                else:
                    self.assertRaises(deps.Problem, deps.host)

    def test_wrong_hash_stops(self):
        path = self.wheel()
        with self.assertRaises(deps.Problem) as stopped:
            deps.unpack([self.pin(path, "0" * 64)], self.folder / "thing")
        text = str(stopped.exception)
        self.assertIn("thing 1.0", text)
        self.assertIn("0" * 64, text)
        self.assertIn(deps.sha256(path), text)
        self.assertFalse((self.folder / "thing").exists(), "nothing was unpacked")
        self.assertFalse((deps.WHEELS / path.name).exists(), "nor kept")

    def test_spoiled_cache_is_fetched_again(self):
        path = self.wheel()
        pin = self.pin(path)
        deps.fetch([pin])
        (deps.WHEELS / path.name).write_bytes(b"half of it")
        self.assertEqual(deps.sha256(deps.fetch([pin])[0]), pin.sha256)

    def test_changed_pin_replaces_the_folder(self):
        target = self.folder / "thing"
        deps.unpack([self.pin(self.wheel("one"))], target)
        (target / "leftover").write_text("")
        path = pack(self.index, "thing", "2.0", {"thing/lib/a.txt": ("two", 0o100644)})
        self.assertTrue(deps.unpack([self.pin(path)], target))
        self.assertEqual((target / "thing/lib/a.txt").read_text(), "two")
        self.assertFalse((target / "leftover").exists())

    def test_leaves_out_what_is_not_wanted(self):
        target = self.folder / "thing"
        pins = [self.pin(self.wheel())]
        self.assertTrue(deps.unpack(pins, target, r"thing/lib/"))
        self.assertTrue((target / "thing/bin/run").exists())
        self.assertFalse((target / "thing/lib").exists())
        self.assertFalse(deps.unpack(pins, target, r"thing/lib/"), "nothing to do the second time")
        self.assertTrue(deps.unpack(pins, target), "what was left out is wanted now")
        self.assertTrue((target / "thing/lib/a.txt").exists())

    def test_zig_is_unpacked_for_macos_alone(self):
        for path, kept in (
            ("ziglang/zig", True), ("ziglang/lib/std/zig.zig", True), ("ziglang/lib/libcxx/include/span", True),
            ("ziglang/lib/libc/darwin/libSystem.tbd", True), ("ziglang/lib/libc/include/any-darwin-any/mach/mach.h", True),
            ("ziglang/lib/libc/include/any-linux-any/linux/a.h", False), ("ziglang/lib/libc/musl/a.c", False),
        ):
            self.assertEqual(re.match(deps.ZIG_WITHOUT, path) is None, kept, path)

    def test_missing_package(self):
        with self.assertRaises(deps.Problem) as stopped:
            deps.fetch([deps.Pin(f"mlx linux-x86_64 nothing 9.9 py3-none-any {'0' * 64}")])
        self.assertIn("nothing 9.9 could not be downloaded", str(stopped.exception))

    def test_links_in_wheels_are_refused(self):
        path = pack(self.index, "thing", "1.0", {"thing/lib/link": ("/etc/passwd", 0o120777)})
        with self.assertRaises(deps.Problem):
            deps.unpack([self.pin(path)], self.folder / "thing")

    def test_pins_are_read_strictly(self):
        for text, words in (("mlx linux-x86_64 thing 1.0\n", "line 1: six columns"), ("\n# x\nmlx p thing 1.0 py3-none-any abc\n", "line 3")):
            bad = self.folder / "pins.txt"
            bad.write_text(text)
            with mock.patch.object(deps, "PINS", bad), self.assertRaises(deps.Problem) as stopped:
                deps.read_pins()
            self.assertIn(words, str(stopped.exception))

    def test_every_platform_has_its_pins(self):
        pins = deps.read_pins()
        for platform in ("linux-x86_64", "linux-arm64", "macos-arm64"):
            for name in ("mlx", "go", "node") + (("zig",) if platform.startswith("linux") else ()):
                self.assertEqual(len([p for p in pins if (p.platform, p.set) == (platform, name)]), 1, f"{name} on {platform}")
        self.assertEqual(len({p.version for p in pins if p.name.startswith("mlx") and p.set != "mlxlm"}), 1, "one version of MLX everywhere")

    def test_mlx_lm_is_whole_for_every_python(self):
        pins = deps.read_pins()
        for platform in ("linux-x86_64", "linux-arm64", "macos-arm64"):
            for minor in (11, 12, 13, 14):
                names = [p.name for p in pins if p.set == "mlxlm" and deps.suits(p, platform, minor)]
                self.assertEqual(len(names), len(set(names)), f"no package twice for 3.{minor} on {platform}")
                self.assertLessEqual({"mlx-lm", "transformers", "tokenizers", "numpy", "regex", "pyyaml", "markupsafe"}, set(names))

    def test_wheels_suit_a_python(self):
        for tag, suited in (
            ("py3-none-any", (10, 11, 14)),
            ("cp311-cp311-manylinux_2_28_x86_64", (11,)),
            ("cp311-abi3-manylinux_2_28_x86_64", (11, 14)),
        ):
            pin = deps.Pin(f"mlxlm linux-x86_64 thing 1.0 {tag} {'0' * 64}")
            self.assertEqual(tuple(m for m in (10, 11, 14) if deps.suits(pin, "linux-x86_64", m)), suited)
            self.assertFalse(deps.suits(pin, "macos-arm64", 11))

    def test_unknown_part(self):
        with self.assertRaises(deps.Problem) as stopped:
            deps.main("everything")
        self.assertIn("everything: the choices are mlxlm", str(stopped.exception))

    def test_unknown_kind_of_mlx(self):
        with self.assertRaises(deps.Problem) as stopped:
            deps.mlx([], "cuda12", "linux-x86_64")
        self.assertIn("MLX=cuda12", str(stopped.exception))
        with self.assertRaises(deps.Problem):
            deps.mlx([], "cuda13", "macos-arm64")


if __name__ == "__main__":
    unittest.main()
