"""Builds the reference agent: one executable file, archives in the official layout, and the variants that tests use."""

from pyhelpers.release.build import Build, build
from pyhelpers.release.source import ReleaseError
from pyhelpers.release.variants import variant

__all__ = ["Build", "ReleaseError", "build", "variant"]
