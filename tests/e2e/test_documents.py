"""What the documents show is what the programs do."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from local_server import builddir

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """docs/examples/run.c, compiled as its first lines say, against the built library."""
    program = tmp_path_factory.mktemp("example") / "run"
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", ROOT / "docs/examples/run.c", "-o", program,
         f"-I{ROOT / 'src'}", f"-L{builddir() / '.libs'}", "-lhermes-e2b", "-pthread"],
        check=True,
    )
    return program


def run(program, server, *arguments, **environment):
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, **server.environment, **environment,
             "LD_LIBRARY_PATH": str(builddir() / ".libs")},
    )


def test_the_example_runs_a_command_and_kills_its_sandbox(example, server):
    done = run(example, server, "echo out; echo err >&2; exit 5")
    assert (done.stdout, done.stderr, done.returncode) == ("out\nerr\n", "", 5)
    assert server.api("GET", "/v2/sandboxes")[2] == []


def test_the_example_says_what_is_wrong(example, server):
    done = run(example, server, "true", E2B_API_KEY="")
    assert "no API key" in done.stderr
    assert done.returncode == 255


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/local.md",
                                  "docs/local-isolation.md", "machines/README.md", "fuzz/README.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in link:
            assert ((ROOT / page).parent / link).exists(), link


def test_the_settings_of_the_readme_are_the_plugins():
    readme = (ROOT / "README.md").read_text()
    shown = set(re.findall(r"^        (\w+):", readme, re.MULTILINE))
    manifest = (ROOT / "pybind/hermes_e2b/plugin.yaml").read_text()
    known = set(re.findall(r"^  (\w+): \{type", manifest, re.MULTILINE))
    assert shown and shown <= known


@pytest.mark.parametrize("program", ["hermes-e2b", "e2b-local"])
def test_help_names_every_option_of_the_man_page(program):
    page = ROOT / "docs" / f"{program}.1"
    if not page.exists():
        pytest.skip(f"{program} has no man page yet")
    text = page.read_text().replace("\\-", "-")
    helped = subprocess.run([builddir() / program, "--help"], capture_output=True, text=True)
    assert helped.returncode == 0
    for option in set(re.findall(r"--[a-z][a-z-]+", helped.stdout)):
        assert option in text, option


def test_man_pages_are_well_formed():
    if not shutil.which("man"):
        pytest.skip("man is not installed here")
    for page in (ROOT / "docs").glob("*.1"):
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
