"""The two-span story: a page's failing program shows a second place, or it is said why none is.

The second place tells why: where a perspective came from, where a name is declared, what was first.
"""

from __future__ import annotations

import pytest

from house.test_codes import PAGED, fences_of, name_of
from prismc.diagnostics.problem import Problem
from support.checking import check_texts

_WORD = "the word itself is wrong, whatever stands around it"
_LINE = "all of it is in its line, which the label tells"
_MISSING = "what is missing has no place"
_LITERAL = "the program on the page has a literal there; a constant's declaration is shown"
_OPTION = "the command line has no place in a program"
_KNOWN = "what is compared with is the language's or the target's own"
_TEST = "values of a test have no declarations that tell more; the label shows their types"
_BUILD = "it is the CUDA compiler's word about a kernel as a whole"
_COMMENT = "the comment itself is wrong"

WITHOUT: dict[str, str] = {
    "P0101": _WORD,
    "P0102": _WORD,
    "P0103": _WORD,
    "P0104": _WORD,
    "P0105": _MISSING,
    "P0106": _WORD,
    "P0107": _WORD,
    "P0108": _WORD,
    "P0109": _WORD,
    "P0110": _LINE,
    "P0111": "the label tells the indentations of all blocks around it",
    "P0113": _MISSING,
    "P0114": _MISSING,
    "P0115": _LINE,
    "P0116": _MISSING,
    "P0118": _MISSING,
    "P0119": "the limit is passed by all that stands around it",
    "P0120": _MISSING,
    "P0121": _MISSING,
    "P0122": _WORD,
    "P0123": _WORD,
    "P0125": _MISSING,
    "P0126": _WORD,
    "P0128": _LINE,
    "P0129": _WORD,
    "P0130": _WORD,
    "P0135": "there is no function around it",
    "P0190": _MISSING,
    "P0191": "the file on the page imports itself; of a longer circle all imports are shown",
    "P0201": _MISSING,
    "P0206": _MISSING,
    "P0207": _OPTION,
    "P0304": _LINE,
    "P0311": _LITERAL,
    "P0312": _LITERAL,
    "P0315": _OPTION,
    "P0316": _LINE,
    "P0317": _LITERAL,
    "P0323": _LITERAL,
    "P0324": _WORD,
    "P0325": _WORD,
    "P0326": _LITERAL,
    "P0327": _WORD,
    "P0333": _LITERAL,
    "P0339": _LINE,
    "P0340": _LINE,
    "P0342": "the declaration is the place",
    "P0343": _LITERAL,
    "P0347": _WORD,
    "P0348": _WORD,
    "P0350": _LINE,
    "P0355": _WORD,
    "P0358": _WORD,
    "P0363": _MISSING,
    "P0370": _WORD,
    "P0372": _LINE,
    "P0375": _LINE,
    "P0376": _LINE,
    "P0380": _WORD,
    "P0381": _LITERAL,
    "P0382": "built-in functions have no place",
    "P0394": _LITERAL,
    "P0432": _KNOWN,
    "P0441": _LINE,
    "P0503": "the table of the buffers is in the notes",
    "P0504": _LINE,
    "P0511": _WORD,
    "P0704": _BUILD,
    "P0705": _BUILD,
    "P0706": _KNOWN,
    "P0757": _MISSING,
    "P0766": _BUILD,
    "P0777": _LINE,
    "P0785": _COMMENT,
    "P0786": _COMMENT,
    "P0787": _COMMENT,
    "P0788": _COMMENT,
    "P0789": _COMMENT,
    "P0790": _TEST,
    "P0791": _TEST,
    "P0792": _TEST,
    "P0793": _TEST,
    "P0794": _TEST,
    "P0799": _TEST,
    "P0952": "the products are somewhere in the kernel's code, perhaps in several places",
}


@pytest.mark.parametrize("cls", PAGED, ids=name_of)
def test_a_second_place_or_a_reason(cls: type[Problem]) -> None:
    (fence,) = fences_of(cls, "Fails")
    session = check_texts({"main.prism": fence.text}, "main.prism", fence.flags)
    related = [each for problem in session.problems for each in problem.related if each.at.file]
    is_excused = cls.code in WITHOUT
    assert bool(related) != is_excused, "show a second place, or say in WITHOUT why there is none"
