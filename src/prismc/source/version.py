"""The version of prismc, in one place: the package metadata reads it from here too."""

VERSION = "0.1.0"
