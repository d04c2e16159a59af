#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the Debian packages of a build tree, and uses them as somebody does who has only them.

    run_package.py --cpack CPACK --build BUILD --work WORK

Packs; asks lintian, whose errors and warnings are failures; installs with apt in a copy of this system that is thrown
away (an overlay in a mount namespace of its own), the package of the command first, which has to work with its manual pages
by itself, then the others, against which examples/embed is built; removes everything, after which nothing may be left.
Nothing outside of WORK changes, and nothing is fetched. Exit status 1 when anything differs; 77 where dpkg or lintian
is missing, or mount namespaces are not to be had: then packing and lintian are all that was tested, if at all.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

PACKAGES = {
    "libtilejit0": {"libllvm22", "libz3-4", "libc6"},
    "tilejit": {"libllvm22", "libjansson4", "libz3-4", "libc6"},
    "libtilejit-dev": {"libtilejit0", "libtilejit-runtime-dev"},
    "libtilejit-runtime0": {"libc6"},
    "libtilejit-runtime-dev": {"libtilejit-runtime0"},
}
TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "file", "lintian", "apt-get", "man")
SKIPPED = 77

# Runs as root of the overlay, whose / is this system's. $1 is the folder with the packages.
OVERLAY = r"""
set -eu
mount --make-rprivate /
mount -t tmpfs none "$1/overlay"
mkdir "$1/overlay/upper" "$1/overlay/work" "$1/overlay/root"
mount -t overlay none -o "lowerdir=/,upperdir=$1/overlay/upper,workdir=$1/overlay/work" "$1/overlay/root"
root=$1/overlay/root
mount --rbind /dev "$root/dev"
mount -t proc none "$root/proc"
mkdir -p "$root/packages"
cp "$1"/*.deb "$1"/inside.sh "$root/packages"
"""

INSIDE = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/root TILEJIT_CACHE=off LC_ALL=C.UTF-8
say() { printf 'step: %s\n' "$*"; }
cd /packages
rm -f /etc/dpkg/dpkg.cfg.d/*   # images of containers leave documents out
rm -f /var/lib/man-db/auto-update   # the index of all pages of a system takes seconds each time
rm -rf /var/lib/apt/lists   # what is not installed is not to be had; and each apt-get reads all of these
listing() { find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /packages -o -path /var -o -path /root \
  -o -path /etc/ld.so.cache -o -path '/work*' -o -path '/home*' -o -path '/build*' \) -prune -o -path '*tilejit*' -print | sort; }
say install
listing > before
apt-get install -y --no-install-recommends /packages/tilejit_*.deb
dpkg --verify tilejit
say command
cd /root
tilejit run /usr/share/doc/tilejit/examples/transpose.tile --device sim:gfx942 --arg M=100 --arg N=77 --stats
tilejit devices
say pages
for page in tilejit tilejit-language $(tilejit help --json | grep -o '"name":"[a-z]*","summary"' | cut -d'"' -f4 \
  | sed s/^/tilejit-/); do
  test "$(MANROFFOPT=-Tutf8 man --warnings "$page" 2>&1 >/packages/page | wc -l)" = 0
  test "$(wc -l < /packages/page)" -gt 20
done
man tilejit-run | grep -e --device
say completions
test -f /usr/share/zsh/vendor-completions/_tilejit
test -f /usr/share/fish/vendor_completions.d/tilejit.fish
bash --norc -c '. /usr/share/bash-completion/completions/tilejit; COMP_LINE="tilejit disa"; COMP_CWORD=1
  COMP_WORDS=(tilejit disa); _tilejit; echo "completed: ${COMPREPLY[*]}"'
say runtime
cp /usr/share/doc/tilejit/examples/transpose.tile /packages
tilejit bundle /packages/transpose.tile --target host -o /packages/k.tjb
apt-get purge -y tilejit
apt-get install -y --no-install-recommends /packages/libtilejit-runtime*.deb
dpkg --verify libtilejit-runtime0 libtilejit-runtime-dev
printf '#include <stdio.h>\n#include <tilejit/runtime.h>\nint main(void) { tj_context *c; tj_bundle *b;
  return tj_context_create(NULL, &c) || tj_bundle_open_file(c, "/packages/k.tjb", &b) || !printf("%%s in it\\n",
  tj_bundle_entry_of(b, 0).kernel); }' > /packages/open.c
cc /packages/open.c -o /packages/open $(pkg-config --cflags --libs tilejit-runtime)
/packages/open
say libraries
apt-get install -y --no-install-recommends /packages/tilejit_*.deb
apt-get install -y --no-install-recommends /packages/lib*.deb
dpkg --verify tilejit libtilejit0 libtilejit-dev libtilejit-runtime0 libtilejit-runtime-dev
say embed
cmake -S /usr/share/doc/tilejit/examples/embed -B /packages/embed/build >/dev/null
cmake --build /packages/embed/build >/dev/null
/packages/embed/build/relayout 100 77 sim:gfx942
/packages/embed/build/relayout_static 100 77 sim:gfx942
ldd /packages/embed/build/relayout | grep tilejit
make -s -f /usr/share/doc/tilejit/examples/embed/Makefile OUT=/packages/embed
/packages/embed/relayout 10 7 host
say bundle
cmake -S /usr/share/doc/tilejit/examples/bundle -B /packages/bundle >/dev/null
cmake --build /packages/bundle >/dev/null
/packages/bundle/transpose 10 7 sim:gfx90a
say remove
apt-get purge -y tilejit libtilejit0 libtilejit-dev libtilejit-runtime0 libtilejit-runtime-dev
listing > /packages/after
diff /packages/before /packages/after
! command -v tilejit
say end
"""

EXPECTED = (
    r'"kernel":\s*"transpose".*"counters"',
    r"(?m)^sim:gfx942\s",
    r"(?s)100 x 77 on sim:gfx942 .*: 0 of 7700 elements wrong.*100 x 77 on sim:gfx942 .*: 0 of 7700 elements wrong",
    r"libtilejit\.so\.0 => /(usr/)?lib/[^/]+/libtilejit\.so\.0 ",
    r"10 x 7 on host .*: 0 of 70 elements wrong",
    r"(?s)step: pages.*--device.*step: completions",
    r"(?m)^completed: disasm$",
    r"(?m)^transpose in it$",
    r"10 x 7 on sim:gfx90a: 0 of 140 elements wrong",
    r"step: end",
)


class Failure(Exception):
    """Something did not do what it should."""


def run(words, **options):
    """Runs a program, which has to succeed, and gives its output."""
    process = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=500, check=False,
                             **options)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))}\nended with {process.returncode}:\n{process.stdout}"
                      f"{process.stderr}")
    return process.stdout + process.stderr


def expect(text, pattern):
    if not re.search(pattern, text):
        raise Failure(f"expected {pattern!r} in:\n{text}")


def pack(given, work):
    """The packages, by name."""
    run([given.cpack, "--config", pathlib.Path(given.build).resolve() / "CPackConfig.cmake", "-B", work,
         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], cwd=work)
    packages = {path.name.split("_")[0]: path for path in work.glob("*.deb")}
    if packages.keys() != PACKAGES.keys():
        raise Failure(f"the packages are {sorted(packages)}")
    return packages


def check_dependencies(packages):
    for name, path in packages.items():
        depends = {word.split()[0] for word in run(["dpkg-deb", "-f", path, "Depends"]).split(",")}
        if not PACKAGES[name] <= depends:
            raise Failure(f"{name} depends on {sorted(depends)}, not on all of {sorted(PACKAGES[name])}")
        if name == "tilejit" and any("tilejit" in other for other in depends):
            raise Failure(f"tilejit is not complete by itself: it depends on {sorted(depends)}")


def check_lintian(packages):
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    run(["lintian", *as_root, "--fail-on", "error,warning", *packages.values()])


def has_namespaces():
    probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return os.geteuid() == 0 and probe.returncode == 0


def check_installed(work):
    (work / "overlay").mkdir()
    (work / "inside.sh").write_text(INSIDE, encoding="utf-8")
    script = OVERLAY + 'exec chroot "$root" /bin/bash /packages/inside.sh\n'
    output = run(["unshare", "--mount", "/bin/bash", "-c", script, "overlay", work])
    for pattern in EXPECTED:
        expect(output, pattern)


def check(given):
    work = pathlib.Path(given.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    packages = pack(given, work)
    check_dependencies(packages)
    check_lintian(packages)
    if not has_namespaces():
        print("packed, and lintian has nothing to say; not installed: that takes root and mount namespaces")
        return SKIPPED
    check_installed(work)
    print("packed, checked, installed, used and removed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cpack", "build", "work"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print("not tested, for want of", *missing)
        return SKIPPED
    try:
        return check(given)
    except Failure as failure:
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
