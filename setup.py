"""Builds the extension around the library, which goes inside it: only system libraries stay outside.

HE2B_BUILDDIR names a folder in which `make` has been run, to be used instead of building again.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(
    r'^#define HE2B_VERSION "(.+)"$', (HERE / "src/he2b.h").read_text(), re.MULTILINE
).group(1)
LIBRARIES = ("libevent_core", "libcurl", "json-c", "nettle", "libprotobuf-c", "libarchive")


def run(command, folder):
    """Runs a step of the build; its failure is one clear line after its own output."""
    try:
        subprocess.run(command, cwd=folder, check=True)
    except FileNotFoundError:
        sys.exit(f"hermes-e2b: {command[0]} is needed to build; the README lists the packages")
    except subprocess.CalledProcessError as error:
        sys.exit(f"hermes-e2b: {shlex.join(map(str, command))} failed with {error.returncode}")


def build_library(folder):
    """The static library, configured and made in `folder`; returns its path."""
    given = os.environ.get("HE2B_BUILDDIR")
    if given:
        folder = pathlib.Path(given)
    else:
        source = HERE
        if not (HERE / "configure").exists():
            # A git checkout: what autotools make stays out of it.
            source = folder / "source"
            shutil.copytree(HERE, source, dirs_exist_ok=True, ignore=shutil.ignore_patterns(
                ".git", "build", ".quickstart", "*.egg-info", "autom4te.cache"))
            run(["autoreconf", "-fi"], source)
        folder = folder / "library"
        folder.mkdir(parents=True, exist_ok=True)
        run([source / "configure", "--quiet", "--disable-shared", "--disable-local"], folder)
        run(["make", f"-j{os.cpu_count() or 1}", "libhermes-e2b.la"], folder)
    library = folder / ".libs" / "libhermes-e2b.a"
    if not library.exists():
        sys.exit(f"hermes-e2b: {library} is missing; run make in {folder} first")
    return library


def pkg_config(flag):
    output = subprocess.run(["pkg-config", flag, *LIBRARIES], check=True, stdout=subprocess.PIPE)
    return shlex.split(output.stdout.decode())


class Build(build_ext):
    """Adds the library to the extension just before it is linked."""

    def build_extension(self, extension):
        folder = pathlib.Path(self.build_temp).resolve() / "hermes-e2b"
        folder.mkdir(parents=True, exist_ok=True)
        extension.extra_objects = [str(build_library(folder))]
        extension.extra_link_args = [*pkg_config("--libs"), "-pthread", "-Wl,--exclude-libs,ALL"]
        super().build_extension(extension)


setup(
    version=VERSION,
    cmdclass={"build_ext": Build},
    ext_modules=[
        Extension(
            "hermes_e2b._native",
            sources=[f"pybind/{name}.c" for name in (
                "command", "loop", "module", "session", "shared", "step", "transfer", "waiter")],
            depends=["pybind/native.h", "src/he2b.h"],
            include_dirs=["src", "pybind"],
            define_macros=[("_GNU_SOURCE", None)],
            extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-Wall", "-Wextra"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
