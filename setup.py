"""What pyproject.toml cannot say of the build: links in the source distribution, and same bytes.

The folders kkt, orderings, analysis and papers belong to one package, pivotree, since other
projects on PyPI have packages of these names: src/pivotree holds a link to each of them.  With
SOURCE_DATE_EPOCH set, wheels and source distributions are the same bytes in every build, whatever
the umask of who builds them.
"""

import gzip
import os
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.sdist import sdist

ROOMS = ("kkt", "orderings", "analysis", "papers")


class Sdist(sdist):
    """A source distribution with the links, the date that is asked for, and nobody's user name."""

    def make_release_tree(self, base_dir, files):
        """MANIFEST.in leaves out what lies behind the links; the links themselves are made here."""
        super().make_release_tree(base_dir, files)
        for room in ROOMS:
            (Path(base_dir) / "src/pivotree" / room).symlink_to(Path("../..") / room)

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **more):
        made = super().make_archive(base_name, format, root_dir, base_dir, **more)
        date = os.environ.get("SOURCE_DATE_EPOCH")
        if date is None or format != "gztar":
            return made
        with tarfile.open(made) as archive:
            members = [(one, archive.extractfile(one) if one.isfile() else None) for one in archive]
            with (
                Path(f"{made}.part").open("wb") as file,
                gzip.GzipFile("", "wb", mtime=int(date), fileobj=file) as packed,
                tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as dated,
            ):
                for member, content in sorted(members, key=lambda pair: pair[0].name):
                    member.mtime, member.pax_headers = int(date), {}
                    member.uid = member.gid = 0
                    member.uname = member.gname = ""
                    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                    dated.addfile(member, content)
        Path(f"{made}.part").replace(made)
        return made


class Wheel(bdist_wheel):
    """A wheel whose files all may read, whatever who builds it lets others do with theirs."""

    def write_wheelfile(self, *given, **more):
        super().write_wheelfile(*given, **more)
        for path in Path(self.bdist_dir).rglob("*"):
            if path.is_file():
                path.chmod(0o644)


setup(cmdclass={"sdist": Sdist, "bdist_wheel": Wheel})
