"""The version of prismc, in one place: the package metadata reads it from here too."""

VERSION = "0.1.0"
MADE_BY = "made by prismc"  # in the first line of files of Python that a build may replace
