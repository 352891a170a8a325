"""Problems of the front end: syntax (P01xx), and modules that cannot be loaded (P019x)."""

from __future__ import annotations

from typing import ClassVar

from prismc.diagnostics.problem import Problem

# --------------------------------------------------------------------------- any syntax


class UnexpectedToken(Problem):
    """What no other class explains better."""

    code, title = "P0101", "an unexpected word or sign"
    message = "unexpected {found}"
    label = "expected {expected}"

    found: str
    expected: str


# --------------------------------------------------------------------------- characters


class UnknownCharacter(Problem):
    code, title = "P0102", "a character that means nothing in Prism"
    message = "{character} means nothing in Prism"
    label = "not part of any word, number or operator"
    help_text = "remove it"

    character: str


class NonAsciiName(Problem):
    code, title = "P0103", "a name with letters beyond ASCII"
    message = "the name `{name}` has letters beyond ASCII"
    label = "`{letter}` is {code_point}"
    help_text = "spell names with A to Z, a to z, 0 to 9 and `_`"

    name: str
    letter: str
    code_point: str


class BadNumber(Problem):
    code, title = "P0104", "a malformed number"
    message = "`{text}` is not a number of Prism"
    label = "{reason}"
    help_text = (
        "write integers as `12`, `0x1F` or `0b101`, floats as `1.5` or `1e-3`, without suffix"
    )

    text: str
    reason: str


class UnterminatedString(Problem):
    code, title = "P0105", "a string without its closing quote"
    label = 'the string starts here, and its line ends before a closing `"`'
    help_text = "close the string; strings that follow one another are joined"


class BadEscape(Problem):
    code, title = "P0106", "an unknown escape in a string"
    message = "`{escape}` is no escape"
    label = "in this string"
    help_text = "write a backslash as `\\\\`; escapes are C's, such as `\\n`, `\\t` and `\\x1b`"

    escape: str


class ForeignSpelling(Problem):
    """An idiom of C or Python that Prism spells differently."""

    code, title = "P0107", "another language's spelling"
    message = "`{written}` is not Prism"
    label = "Prism says this differently"
    help_text = "{instead}"

    written: str
    instead: str


class Semicolon(Problem):
    code, title = "P0108", "a semicolon"
    message = "a statement ends with its line, not with `;`"
    label = "not needed"
    help_text = "remove the `;`; write one statement a line"


class Braces(Problem):
    code, title = "P0109", "braces around a block"
    message = "blocks are made by `:` and indentation, not by braces"
    label = "this brace"
    help_text = "end the line before the block with `:` and indent the block's lines by four spaces"


# --------------------------------------------------------------------------- layout


class TabIndentation(Problem):
    code, title = "P0110", "a tab in the indentation"
    label = "this tab"
    help_text = "indent with spaces, four a level"


class UnmatchedUnindent(Problem):
    code, title = "P0111", "an indentation that matches no outer block"
    label = "indented by {width}; the blocks around it are indented by {levels}"
    help_text = "align the line with the block that it belongs to"

    width: int
    levels: str


class UnexpectedIndent(Problem):
    code, title = "P0112", "an indented line that no block begins"
    label = "deeper than the line above, which does not end in `:`"
    help_text = "align the line with the statement above"


class MissingBody(Problem):
    code, title = "P0113", "a block without a body"
    label = "expected an indented statement after this line"
    help_text = "indent the lines that belong to the block by four spaces; `pass` does nothing"


class MissingColon(Problem):
    code, title = "P0114", "a missing `:`"
    message = "expected `:` before the block"
    label = "expected `:` here"
    help_text = "end the line with `:`"


class BlockAfterColon(Problem):
    code, title = "P0115", "a block on its header's line"
    message = "only a simple statement may follow `:` on its line"
    label = "`{word}` begins a block of its own"
    help_text = "move it to the next line and indent it"

    word: str


class UnclosedBracket(Problem):
    code, title = "P0116", "an unclosed bracket"
    message = "`{bracket}` is never closed"
    label = "opened here"
    help_text = "add the missing `{closing}`"

    bracket: str
    closing: str


class MismatchedBracket(Problem):
    code, title = "P0117", "a closing bracket of the wrong kind"
    message = "`{bracket}` does not close `{opening}`"
    label = "expected `{closing}`"
    help_text = "close the brackets in the order opposite to their opening"

    bracket: str
    opening: str
    closing: str


class UnopenedBracket(Problem):
    code, title = "P0118", "a closing bracket without an opening one"
    message = "`{bracket}` closes nothing"
    label = "no bracket is open here"
    help_text = "remove it, or open the bracket that it closes"

    bracket: str


class TooDeep(Problem):
    """The limits keep every later pass, which recurses, within bounded memory."""

    code, title = "P0119", "a program that is nested too deeply"
    message = "more than {limit} {what}"
    label = "the limit is passed here"
    help_text = "{advice}"

    limit: int
    what: str
    advice: str


# --------------------------------------------------------------------------- statements


class NarrowWithoutName(Problem):
    code, title = "P0120", "a partition, claim or async without `as`"
    message = "`{word}` needs a name for what it gives"
    label = "expected `as` and a new name"
    help_text = "{advice}"

    word: str
    advice: str


class NarrowWithoutPerspective(Problem):
    code, title = "P0121", "a partition or claim without `@`"
    message = "the perspective of `{name}` is missing"
    label = "expected `@` and a perspective"
    help_text = "say who holds `{name}`, for example `@ thread[1]`"

    name: str


class LevelWithoutSize(Problem):
    code, title = "P0122", "a level without its size"
    message = "`{level}` is a level; a perspective needs a size too"
    label = "expected `[` and a size after `{level}`"
    help_text = "write `{level}[1]`, or the number of units that act together"

    level: str


class SplitWithSize(Problem):
    code, title = "P0123", "a split with a size"
    message = "`split` names a level alone; its cases have the sizes"
    label = "expected `:`"
    help_text = "write `split {level}:` and one `case n:` for each arm"

    level: str


class ArmsExpected(Problem):
    code, title = "P0124", "a statement between the parts of a split or pipeline"
    message = "a `{owner}` holds {parts} only"
    label = "expected {expected}"
    help_text = "move the statement into one of the parts, or out of the `{owner}`"

    owner: str
    parts: str
    expected: str


class StrayArm(Problem):
    code, title = "P0125", "a part without its whole"
    message = "`{word}` stands only inside {owner}"
    label = "no {owner_word} begins here"
    help_text = "align it with the statement that it belongs to, or remove it"

    word: str
    owner: str
    owner_word: str


class AssignmentInCondition(Problem):
    code, title = "P0126", "an assignment where a value is expected"
    message = "`=` assigns; it is not a comparison"
    label = "expected a comparison"
    help_text = "write `==` to compare"


class ChainedComparison(Problem):
    code, title = "P0127", "a chain of comparisons"
    message = "comparisons do not chain"
    label = "the second comparison"
    help_text = "join two comparisons by `and`: `a < b and b < c`"


class LoopWithoutRange(Problem):
    code, title = "P0128", "a loop that does not run over a range"
    message = "`for` and `pipeline` run over `range(..)`"
    label = "{found}"
    help_text = "write `range(stop)`, `range(start, stop)` or `range(start, stop, step)`"

    found: str


class NotAssignable(Problem):
    code, title = "P0129", "a target that cannot be assigned"
    message = "{what} cannot be {action}"
    label = "not a {wanted}"
    help_text = "{advice}"

    what: str
    action: str
    wanted: str
    advice: str


class ReservedWord(Problem):
    code, title = "P0130", "a reserved word as a name"
    message = "`{word}` is a reserved word"
    label = "expected a name"
    help_text = "choose another name, for example `{word}_`"

    word: str


class PositionalAfterNamed(Problem):
    code, title = "P0131", "a positional argument after a named one"
    label = "this argument has no name"
    help_text = "put the arguments without a name first"


# --------------------------------------------------------------------------- declarations


class NotADeclaration(Problem):
    code, title = "P0135", "a statement outside a function"
    message = "expected a declaration, found {found}"
    label = "not inside a function"
    help_text = (
        "put it into a `def`, a `kernel` or a `test`; at top level stand only these, "
        "`const`, `export` and imports"
    )

    found: str


class NestedDeclaration(Problem):
    code, title = "P0136", "a declaration inside a function"
    message = "`{word}` stands at top level only"
    label = "inside a function here"
    help_text = "move it to the start of a line, before or after the function"

    word: str


class DanglingAttribute(Problem):
    code, title = "P0137", "an attribute without a function"
    message = "attributes stand directly before a `def` or a `kernel`"
    label = "expected `def`, `unsafe def` or `kernel`"
    help_text = "put the function under its attributes, or remove them"


# --------------------------------------------------------------------------- modules


class MissingModule(Problem):
    code, title = "P0190", "a module that is not found"
    message = "no module `{module}`"
    label = "looked for in {searched}"
    help_text = "{advice}"

    module: str
    searched: str
    advice: str


class ImportCycle(Problem):
    code, title = "P0191", "modules that import each other in a circle"
    message = "the imports form a cycle: {cycle}"
    label = "this import closes it"
    help_text = "move what both need into a third module"

    cycle: str


class UnreadableModule(Problem):
    """An import found its file; the machine, not the program, keeps it from being read."""

    code, title = "P0192", "a file that cannot be read"
    message = "`{path}` cannot be read: {reason}"
    label = "imported here"
    help_text = "check the file's permissions and that it is UTF-8 text"
    is_environment: ClassVar[bool] = True

    path: str
    reason: str
