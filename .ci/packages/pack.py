"""Packs built programs: a tar.gz, two npm packages (the main one and that of the platform), a Python wheel, and SHA256SUMS.

The same programs give the same bytes: every file has the time of the last commit (SOURCE_DATE_EPOCH).
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / ".ci/packages"
PROGRAMS = ["edgeproof", "edgeproof-load"]
# Shell, and the name that it looks for.
COMPLETIONS = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish"}
PLATFORMS = json.loads((HERE / "platforms.json").read_text())
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = MANIFEST["version"]
SUMMARY = "Conformance and load tests for a browser verification service"
LICENSES = {name: (ROOT / name).read_bytes() for name in ("LICENSE-MIT", "LICENSE-APACHE")}
README = (HERE / "README.md").read_bytes()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--programs", type=Path, required=True, help="folder of the built programs")
    arguments.add_argument("--target", choices=PLATFORMS, required=True)
    arguments.add_argument("--out", type=Path, required=True, help="folder for the packages; its packages are replaced")
    arguments.add_argument("--glibc", type=int, help="fail if a program needs a newer glibc than 2.N")
    arguments.add_argument("--fast", action="store_true", help="compress little, for tests")
    args = arguments.parse_args()
    level = 1 if args.fast else 9
    programs = {name: read(args.programs / name) for name in PROGRAMS}
    platform = PLATFORMS[args.target]
    glibc = max(map(newest_glibc, programs.values()), default=0)
    if args.glibc and glibc > args.glibc:
        sys.exit(f"a program needs glibc 2.{glibc}, newer than 2.{args.glibc}: build it with `just dist`")
    args.out.mkdir(parents=True, exist_ok=True)
    for old in args.out.glob("*edgeproof-*"):
        old.unlink()

    folder = f"edgeproof-{VERSION}-{args.target}"
    documents = {**LICENSES, "README.md": README}
    archive = {**documents, "CHANGELOG.md": read(ROOT / "CHANGELOG.md"), **manual(args.programs)}
    tar(args.out / f"{folder}.tar.gz", folder, {**archive, **programs}, PROGRAMS, level)

    npm = f"{platform['os']}-{platform['cpu']}"
    binaries = {f"bin/{name}": content for name, content in programs.items()}
    limits = {"os": [platform["os"]], "cpu": [platform["cpu"]]} | ({"libc": [platform["libc"]]} if "libc" in platform else {})
    tar(
        args.out / f"edgeproof-{npm}-{VERSION}.tgz",
        "package",
        {**LICENSES, "package.json": npm_manifest(f"@edgeproof/{npm}", f"Programs of edgeproof for {npm}", limits), **binaries},
        binaries,
        level,
    )
    tar(args.out / f"edgeproof-{VERSION}.tgz", "package", {**documents, **npm_main()}, npm_bins().values(), level)

    wheel(args.out, platform, glibc, programs, level)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages(args.out)]
    (args.out / "SHA256SUMS").write_text("".join(sums))
    for path in packages(args.out):
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


def packages(out):
    return sorted(path for path in out.iterdir() if path.name.startswith("edgeproof-"))


def read(path):
    try:
        return path.read_bytes()
    except OSError as why:
        sys.exit(f"cannot read {path}: {why.strerror}; name a folder of built programs with --programs")


def newest_glibc(program):
    """The minor version of the newest glibc whose symbols a program needs. 0: none, as on macOS."""
    return max((int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", program)), default=0)


def manual(folder):
    """Man pages and completions: both say what the programs say of themselves."""
    files = {}
    for name in PROGRAMS:
        program = (folder / name).resolve()
        for shell, pattern in COMPLETIONS.items():
            files[f"completions/{pattern.format(name)}"] = printed(program, "completions", shell)
        pages = [[name]]
        for words in pages:
            text = printed(program, *words[1:], "--help").decode()
            files[f"man/man1/{'-'.join(words)}.1"] = man_page(words, text).encode()
            commands = re.search(r"^Commands:\n(.*?)\n\n", text, re.M | re.S)
            pages += [[*words, command] for command in re.findall(r"^  ([a-z-]+)", commands[1] if commands else "", re.M) if command != "help"]
    return files


def printed(program, *arguments):
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run([program, *arguments], check=True, capture_output=True, env=environment).stdout


def man_page(words, text):
    """The help of a command as a man page. A leading dot would be a command of roff."""
    summary, _, rest = text.replace("\\", "\\e").partition("\n")
    lines = [f"\\&{line}" if line.startswith((".", "'")) else line for line in rest.strip().splitlines()]
    head = [f'.TH {"-".join(words).upper()} 1 "" "edgeproof {VERSION}"', ".SH NAME", f"{'-'.join(words)} \\- {summary}"]
    return "\n".join([*head, ".SH DESCRIPTION", ".nf", *lines, ".fi", ""])


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))


def tar(path, folder, files, executable, level):
    modified = epoch()
    with path.open("wb") as out, gzip.GzipFile("", "wb", level, out, modified) as compressed:
        with tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in sorted(files.items()):
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size, entry.mtime, entry.mode = len(content), modified, 0o755 if name in executable else 0o644
                archive.addfile(entry, io.BytesIO(content))


def npm_manifest(name, description, fields):
    manifest = {
        "name": name,
        "version": VERSION,
        "description": description,
        "license": f"({MANIFEST['license']})",
        "repository": {"type": "git", "url": f"git+{MANIFEST['repository']}.git"},
        "preferUnplugged": True,
        **fields,
    }
    return (json.dumps(manifest, indent=2) + "\n").encode()


def npm_bins():
    return {name: f"bin/{name}.js" for name in PROGRAMS}


def npm_main():
    """The package that users name: it runs the program of the platform package, which npm chooses by os, cpu and libc."""
    launchers = {
        path: f'#!/usr/bin/env node\nrequire("../launch.js")("{name}");\n'.encode() for name, path in npm_bins().items()
    }
    platforms = {f"@edgeproof/{each['os']}-{each['cpu']}": VERSION for each in PLATFORMS.values()}
    fields = {
        "bin": npm_bins(),
        "os": sorted({each["os"] for each in PLATFORMS.values()}),
        "engines": {"node": ">=18"},
        "optionalDependencies": platforms,
    }
    scripts = {name: read(HERE / "npm" / name) for name in ("launch.js", "platform.js")}
    return {**launchers, **scripts, "package.json": npm_manifest("edgeproof", SUMMARY, fields)}


def wheel(out, platform, glibc, programs, level):
    """A wheel in the layout of maturin's `bin` bindings: pip copies the programs to the folder of scripts."""
    tag = f"{platform['wheel']}_{platform['machine']}"
    if platform["wheel"] == "manylinux":
        # Older versions of pip know 2.17 by its first name only.
        tag = f"manylinux_2_{max(glibc, 17)}_{platform['machine']}" + (f".manylinux2014_{platform['machine']}" if glibc <= 17 else "")
    info = f"edgeproof-{VERSION}.dist-info"
    metadata = [
        "Metadata-Version: 2.4",
        "Name: edgeproof",
        f"Version: {VERSION}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {MANIFEST['license']}",
        *(f"License-File: {name}" for name in LICENSES),
        f"Project-URL: Source, {MANIFEST['repository']}",
        "Description-Content-Type: text/markdown",
        "",
        README.decode(),
    ]
    tags = [f"Tag: py3-none-{each}" for each in tag.split(".")]
    files = {f"edgeproof-{VERSION}.data/scripts/{name}": content for name, content in programs.items()}
    files |= {f"{info}/licenses/{name}": content for name, content in LICENSES.items()}
    files[f"{info}/METADATA"] = "\n".join(metadata).encode()
    files[f"{info}/WHEEL"] = "\n".join(["Wheel-Version: 1.0", "Generator: edgeproof", "Root-Is-Purelib: false", *tags, ""]).encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    modified = time.gmtime(epoch())[:6]
    with zipfile.ZipFile(out / f"edgeproof-{VERSION}-py3-none-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, modified)
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, level)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


main()
