"""The language server through its protocol, asked by a real client over pipes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp.editor import Editor, applied, place
from prismc.source.resources import stdlib_folder

REVERSE = """\
# Turns blocks around.
const SIZE: int = 256

@requires(grid[1], block[1], thread[256])
@launch(threads = 256)
kernel reverse(x: ptr(const f32), y: ptr(f32)):
    b: int @ block[1] = id()
    partition y as tile @ block[1] at b * SIZE:
        group block[1]:
            shared s: f32[256]
            t: int @ thread[1] = id()
            partition s as mine @ thread[1] at t:
                mine[0] = x[b * SIZE + t]
            u := 255
            partition tile as out @ thread[1] at t:
                out[0] = s[u - t]
"""

TWICE = """\
# Twice a number.
def twice[T: type](a: T) -> T:
    return a + a
"""

USER = """\
from library import twice
from std.warp import warp_sum

@requires(thread[32])
def total(a: f32 @ thread[1]) -> f32:
    return warp_sum(twice(a))
"""


# --------------------------------------------------------------------------- diagnostics


def test_diagnostics_follow_the_text(editor: Editor) -> None:
    assert editor.open("typing.prism", REVERSE) == []
    broken = REVERSE.replace("x[b * SIZE + t]", "x[b * SIZE + tt]")
    (found,) = editor.change("typing.prism", broken)
    assert found.code == "P0201"
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.range.start == place(broken, "tt]")
    assert "did you mean `t`?" in found.message
    assert found.code_description is not None
    assert found.code_description.href.endswith("P0201.md")
    assert editor.change("typing.prism", REVERSE) == []


def test_the_second_place_of_a_problem_is_told(editor: Editor) -> None:
    text = REVERSE.replace("out[0] = s[u - t]", "y[0] = 0.0")
    (found,) = editor.open("hidden.prism", text)
    assert found.related_information
    lines = [related.location.range.start.line for related in found.related_information]
    assert place(text, "partition tile").line in lines


def test_imports_come_from_open_files(editor: Editor) -> None:
    (found,) = editor.open("user.prism", USER)
    assert "library" in found.message
    editor.open("library.prism", TWICE)
    editor.wait(lambda: None if editor.diagnostics[editor.uri("user.prism")].diagnostics else True)
    editor.change("library.prism", TWICE.replace("twice", "double_of"))
    found = editor.wait(lambda: _first(editor, "user.prism"))
    assert found.code == "P0206"
    editor.change("library.prism", TWICE)
    editor.wait(lambda: None if editor.diagnostics[editor.uri("user.prism")].diagnostics else True)


def _first(editor: Editor, name: str) -> types.Diagnostic | None:
    return next(iter(editor.diagnostics[editor.uri(name)].diagnostics), None)


def test_problems_in_files_that_are_not_open_are_shown_there(editor: Editor) -> None:
    (editor.folder / "closed.prism").write_text("const N: int = \n", encoding="utf-8")
    text = "from closed import N\n"
    editor.open("opener.prism", text)
    uri = editor.uri("closed.prism")
    found = editor.wait(lambda: editor.diagnostics.get(uri))
    assert found.diagnostics[0].code.startswith("P01")
    editor.close("opener.prism")
    editor.wait(lambda: None if editor.diagnostics[uri].diagnostics else True)


def test_a_file_without_a_path(editor: Editor) -> None:
    uri = "untitled:Untitled-1"
    item = types.TextDocumentItem(uri, "prism", 1, "const N: int = M\n")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    found = editor.wait(lambda: editor.diagnostics.get(uri))
    assert found.diagnostics[0].code == "P0201"


def test_only_the_newest_text_has_diagnostics(editor: Editor) -> None:
    editor.open("quick.prism", "const N: int = 0\n")
    for number in range(1, 20):
        editor.change("quick.prism", f"const N: int = unknown_{number}\n", wait=False)
        editor.hover("quick.prism", types.Position(0, 6))
    (found,) = editor.checked("quick.prism")
    assert "unknown_19" in found.message


# --------------------------------------------------------------------------- hover


def test_hover(editor: Editor) -> None:
    editor.open("hover.prism", REVERSE)

    def at(needle: str, after: int = 0, nth: int = 0) -> str:
        return editor.hover("hover.prism", place(REVERSE, needle, after, nth))

    assert "t: i32 @ thread[1]" in at("t: int")
    assert "b * SIZE + t: i32 @ thread[1]" in at("SIZE + t]", 5)
    assert "x[b * SIZE + t]: f32 @ thread[1]" in at("x[b", 1)
    assert "const SIZE: int = 256" in at("SIZE:", nth=0)
    assert "is `256`" in at("SIZE + t]")
    assert "kernel reverse(x: ptr(const f32), y: ptr(f32))" in at("reverse")
    assert "Turns blocks" not in at("reverse")
    assert "s: ptr(f32) @ block[1]" in at("s[u")
    assert "The index of this unit" in at("id()")
    assert "id(): i32 @ block[1]" in at("id()")
    assert "The index" not in at("kernel")
    assert "fewest" not in at("shared")
    assert at("# Turns", 3) == ""


def test_hover_tells_who_speaks_what_is_hidden_and_the_barrier(editor: Editor) -> None:
    editor.open("line.prism", REVERSE)
    last = editor.hover("line.prism", place(REVERSE, "out[0]", 7))
    assert "code: `block[1]`, bound `block[1], thread[256]`" in last
    assert "hidden: `y`, by the partition that makes `tile`" in last
    assert "hidden: `tile`, by the partition that makes `out`" in last
    assert "**block barrier of block[1]** before this line" in last
    assert "`s` is written in line 13, read in line 16" in last
    header = editor.hover("line.prism", place(REVERSE, "group block"))
    assert "code: `grid[1]`" in header
    assert "inside: `block[1]`, bound `block[1], thread[256]`" in header
    outside = editor.hover("line.prism", place(REVERSE, "b: int"))
    assert "code: `grid[1]`" in outside
    assert "hidden" not in outside


def test_hover_over_a_generic_shows_its_instances(editor: Editor) -> None:
    text = TWICE + (
        "\n@requires(thread[1])\ndef both(a: f32, b: int) -> f32:\n"
        "    return twice(a) + f32(twice(b))\n"
    )
    assert editor.open("generic.prism", text) == []
    shown = editor.hover("generic.prism", place(text, "a + a"))
    assert "a: f32" in shown
    assert "T = f32" in shown
    assert "a: i32" in shown
    call = editor.hover("generic.prism", place(text, "twice(a)"))
    assert "twice(a): f32 @ thread[1]" in call
    assert "def twice[T: type](a: T) -> T" in call
    assert "Twice a number." in call


def test_hover_in_a_generic_that_nothing_specialises(editor: Editor) -> None:
    text = """\
@requires(thread[N])
def f[N: int, T: type](a: T @ thread[1], p: ptr(T)):
    n: int @ thread[N] = 1
    split thread:
        case 1:
            b: T @ thread[1] = a
"""
    assert editor.open("unused.prism", text) == []
    shown = editor.hover("unused.prism", place(text, "a\n"))
    assert "a: T @ thread[1]" in shown
    assert "code: `thread[1]`, as written" in shown
    shown = editor.hover("unused.prism", place(text, "n: int @"))
    assert "n: int @ thread[N] = 1" in shown
    assert "code: `thread[N]`, as written" in shown


def test_hover_over_a_module_shows_its_comment(editor: Editor) -> None:
    text = "from std.vote import any\nimport std.mma\n"
    editor.open("modules.prism", text)
    shown = editor.hover("modules.prism", place(text, "std.vote", 5))
    assert "import std.vote" in shown
    assert (stdlib_folder() / "vote.prism").read_text().split("\n")[0].lstrip("# ") in shown
    assert "import std.mma" in editor.hover("modules.prism", place(text, "std.mma", 5))


def test_a_broken_file_keeps_the_last_good_answers(editor: Editor) -> None:
    editor.open("broken.prism", REVERSE)
    broken = REVERSE.replace("            u := 255\n", "            u := \n            if (\n")
    assert editor.change("broken.prism", broken)
    assert "b: i32 @ block[1]" in editor.hover("broken.prism", place(broken, "b: int"))
    assert "code: `block[1]`" in editor.hover("broken.prism", place(broken, "out[0]", 7))
    params = types.DefinitionParams(editor.document("broken.prism"), place(broken, "s[u"))
    found = editor.do(editor.client.text_document_definition_async(params))
    assert found is not None


# --------------------------------------------------------------------------- names


def definition(editor: Editor, name: str, at: types.Position) -> types.Location:
    params = types.DefinitionParams(editor.document(name), at)
    found = editor.do(editor.client.text_document_definition_async(params))
    assert isinstance(found, types.Location)
    return found


def test_definition(editor: Editor) -> None:
    editor.open("library.prism", TWICE)
    editor.open("names.prism", USER)
    local = definition(editor, "names.prism", place(USER, "a))"))
    assert local.range.start == place(USER, "a: f32")
    other = definition(editor, "names.prism", place(USER, "twice(a)"))
    assert (other.uri, other.range.start) == (editor.uri("library.prism"), place(TWICE, "twice"))
    library = definition(editor, "names.prism", place(USER, "warp_sum("))
    assert library.uri.endswith("/stdlib/warp.prism")
    line = (
        Path(library.uri.removeprefix("file://")).read_text().split("\n")[library.range.start.line]
    )
    assert line.startswith("def warp_sum")
    module = definition(editor, "names.prism", place(USER, "std.warp", 5))
    assert module.uri.endswith("/stdlib/warp.prism")
    assert module.range.start == types.Position(0, 0)
    imported = definition(editor, "names.prism", place(USER, "import twice", 8))
    assert imported.uri == editor.uri("library.prism")


def references(editor: Editor, name: str, at: types.Position) -> list[tuple[str, types.Position]]:
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(context, editor.document(name), at)
    found = editor.do(editor.client.text_document_references_async(params)) or []
    return sorted((each.uri.rsplit("/", 1)[1], each.range.start) for each in found)


def test_references_in_all_open_files(editor: Editor) -> None:
    editor.open("library.prism", TWICE)
    editor.open("uses.prism", USER)
    found = references(editor, "library.prism", place(TWICE, "twice"))
    assert ("library.prism", place(TWICE, "twice")) in found
    assert ("uses.prism", place(USER, "twice")) in found
    assert ("uses.prism", place(USER, "twice(a)")) in found
    params = types.DocumentHighlightParams(editor.document("uses.prism"), place(USER, "a: f32"))
    marks = editor.do(editor.client.text_document_document_highlight_async(params))
    assert [mark.range.start for mark in marks or ()] == [place(USER, "a: f32"), place(USER, "a))")]


def test_references_in_files_that_are_not_open(editor: Editor) -> None:
    closed = TWICE.replace("# Twice", "\n# Twice").replace("twice", "quarter")
    (editor.folder / "other.prism").write_text(
        "from shared_part import quarter\n\ndef f(a: f32) -> f32:\n    return quarter(a)\n",
        encoding="utf-8",
    )
    editor.open("shared_part.prism", closed)
    found = references(editor, "shared_part.prism", place(closed, "quarter"))
    assert found == [
        ("other.prism", types.Position(0, 24)),
        ("other.prism", types.Position(3, 11)),
        ("shared_part.prism", place(closed, "quarter")),
    ]


def rename(editor: Editor, name: str, at: types.Position, new: str) -> list[types.TextEdit]:
    params = types.RenameParams(editor.document(name), at, new)
    edit = editor.do(editor.client.text_document_rename_async(params))
    assert edit is not None
    assert edit.changes is not None
    return list(edit.changes[editor.uri(name)])


def test_rename_of_a_local(editor: Editor) -> None:
    editor.open("rename.prism", REVERSE)
    where = editor.document("rename.prism")
    params = types.PrepareRenameParams(where, place(REVERSE, "t: int"))
    range_ = editor.do(editor.client.text_document_prepare_rename_async(params))
    assert isinstance(range_, types.Range)
    assert range_.start == place(REVERSE, "t: int")
    text = applied(REVERSE, rename(editor, "rename.prism", place(REVERSE, "t: int"), "lane"))
    assert editor.change("rename.prism", text) == []
    assert "at lane:" in text
    assert "SIZE + lane]" in text
    assert "s[u - lane]" in text
    assert "const f32" in text


@pytest.mark.parametrize(
    ("needle", "new", "why"),
    [
        ("t: int", "b", "already means something"),
        ("t: int", "u", "already means something"),
        ("t: int", "if", "cannot be a name"),
        ("t: int", "2x", "cannot be a name"),
        ("reverse", "other", "may be used in other files"),
        ("id()", "other", "no name of this file"),
    ],
)
def test_rename_is_refused_where_it_is_not_certain(
    editor: Editor, needle: str, new: str, why: str
) -> None:
    name = f"no_{needle[0]}_{new}.prism"
    editor.open(name, REVERSE)
    with pytest.raises(JsonRpcException, match=why):
        rename(editor, name, place(REVERSE, needle), new)


# --------------------------------------------------------------------------- writing


def test_completion_of_names_in_scope(editor: Editor) -> None:
    editor.open("complete.prism", REVERSE)
    found = editor.labels("complete.prism", place(REVERSE, "x[b"))
    assert {"x", "y", "b", "s", "t", "mine", "SIZE", "reverse", "min", "ballot"} <= set(found)
    assert "out" not in found
    assert "u" not in found
    assert found.index("t") < found.index("SIZE") < found.index("min") < found.index("ballot")
    (item,) = [i for i in editor.items("complete.prism", place(REVERSE, "x[b")) if i.label == "t"]
    assert item.detail == "t: i32 @ thread[1]"


def test_completion_while_the_line_is_unfinished(editor: Editor) -> None:
    editor.open("unfinished.prism", REVERSE)
    text = REVERSE.replace(
        "            u := 255\n", "            fresh: int @ thread[1] = t\n            \n"
    )
    editor.change("unfinished.prism", text)
    at = types.Position(place(text, "fresh").line + 1, 12)
    found = editor.labels("unfinished.prism", at)
    assert {"fresh", "t", "tile"} <= set(found)
    assert "mine" not in found


def test_completion_of_imports(editor: Editor) -> None:
    text = (
        "import std.vote\nfrom std.\nfrom std.warp import \nimport \nconst N: int = std.vote.\n@\n"
    )
    editor.open("imports.prism", text)
    assert "mma" in editor.labels("imports.prism", types.Position(1, 9))
    names = editor.labels("imports.prism", types.Position(2, 21))
    assert "warp_sum" in names
    assert not any(name.startswith("_") for name in names)
    assert "std.mma" in editor.labels("imports.prism", types.Position(3, 7))
    assert "ballot" in editor.labels("imports.prism", types.Position(4, 24))
    found = editor.labels("imports.prism", types.Position(5, 1))
    assert sorted(found) == ["assume", "effects", "launch", "requires"]


def test_completion_adds_the_import(editor: Editor) -> None:
    text = (
        "from std.vote import any\n\n@requires(thread[32])\ndef f(a: bool @ thread[1]):\n    ball\n"
    )
    editor.open("adds.prism", text)
    at = place(text, "ball", 4)
    (item,) = [i for i in editor.items("adds.prism", at) if i.label == "ballot"]
    assert applied(text, item.additional_text_edits).startswith(
        "from std.vote import any, ballot\n"
    )
    (item,) = [i for i in editor.items("adds.prism", at) if i.label == "shfl_xor"]
    assert "import any\nfrom std.shuffle import shfl_xor\n" in applied(
        text, item.additional_text_edits
    )


def test_nothing_is_completed_in_comments_and_strings(editor: Editor) -> None:
    editor.open("comment.prism", REVERSE)
    assert editor.items("comment.prism", place(REVERSE, "# Turns", 3)) == []


def test_completion_of_perspectives(editor: Editor) -> None:
    editor.open("levels.prism", REVERSE)
    found = editor.labels("levels.prism", place(REVERSE, "thread[1] = id"))
    assert found == ["thread", "warp", "warpgroup", "block", "grid", "x", "y"]


def test_completion_of_vector_components(editor: Editor) -> None:
    text = "@requires(thread[1])\ndef f():\n    v: vec(f32, 2) = vec2(1.0, 2.0)\n    w := v.x\n"
    assert editor.open("vector.prism", text) == []
    typing = text.replace("w := v.x", "w := v.")
    editor.change("vector.prism", typing)
    assert editor.labels("vector.prism", place(typing, "v.\n", 2)) == ["x", "y"]


def test_completion_of_attribute_arguments(editor: Editor) -> None:
    text = "@requires(gr)\n@launch(th)\nkernel k():\n    pass\n"
    editor.open("attributes.prism", text)
    assert editor.labels("attributes.prism", place(text, "gr)", 2))[:6] == [
        "smem", "thread", "warp", "warpgroup", "block", "grid",
    ]  # fmt: skip
    assert editor.labels("attributes.prism", place(text, "th)", 2))[:4] == [
        "cluster", "cooperative", "min_blocks", "threads",
    ]  # fmt: skip


def test_signature_help(editor: Editor) -> None:
    text = USER.replace("warp_sum(twice(a))", "warp_sum(twice(a) + select(a > 1.0, a, ")
    editor.open("library.prism", TWICE)
    editor.open("signature.prism", text)

    def at(needle: str, after: int) -> types.SignatureHelp:
        params = types.SignatureHelpParams(
            editor.document("signature.prism"), place(text, needle, after)
        )
        found = editor.do(editor.client.text_document_signature_help_async(params))
        assert found is not None
        return found

    inner = at("twice(a)", 6)
    assert inner.signatures[0].label == "twice(a: T) -> T"
    assert inner.active_parameter == 0
    builtin = at("1.0, a, ", 8)
    assert builtin.signatures[0].label == "select(c, a, b)"
    assert builtin.active_parameter == 2
    outer = at("warp_sum(twice(a)", 17)
    assert outer.signatures[0].label.startswith("warp_sum(")


def test_formatting_keeps_what_is_right(editor: Editor) -> None:
    text = REVERSE.replace("const SIZE: int = 256", "const SIZE:int=256").replace(
        "out[0] = s[u - t]", "out[0]=s[u-t]"
    )
    editor.open("format.prism", text)
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    params = types.DocumentFormattingParams(editor.document("format.prism"), options)
    edits = editor.do(editor.client.text_document_formatting_async(params)) or []
    assert len(edits) == 2
    assert applied(text, edits) == REVERSE
    some = types.DocumentRangeFormattingParams(
        editor.document("format.prism"),
        types.Range(types.Position(1, 0), types.Position(1, 5)),
        options,
    )
    (edit,) = editor.do(editor.client.text_document_range_formatting_async(some)) or []
    assert "const SIZE: int = 256" in applied(text, [edit])
    editor.change("format.prism", text + "kernel (\n")
    assert not editor.do(editor.client.text_document_formatting_async(params))


def actions(editor: Editor, name: str, range_: types.Range, *only: str) -> list[types.CodeAction]:
    context = types.CodeActionContext(diagnostics=[], only=list(only) or None)
    params = types.CodeActionParams(editor.document(name), range_, context)
    found = editor.do(editor.client.text_document_code_action_async(params)) or []
    return [action for action in found if isinstance(action, types.CodeAction)]


def edits_of(action: types.CodeAction, uri: str) -> list[types.TextEdit]:
    assert action.edit is not None
    assert action.edit.changes is not None
    return list(action.edit.changes[uri])


def test_fixes(editor: Editor) -> None:
    text = REVERSE.replace("x[b * SIZE + t]", "x[b * SIZE + tt]")
    (problem,) = editor.open("fix.prism", text)
    (fix,) = actions(editor, "fix.prism", problem.range)
    assert (fix.title, fix.kind, fix.is_preferred) == ("write `t`", "quickfix", False)
    assert applied(text, edits_of(fix, editor.uri("fix.prism"))) == REVERSE
    elsewhere = types.Range(types.Position(0, 0), types.Position(0, 1))
    assert actions(editor, "fix.prism", elsewhere) == []


def test_an_unknown_name_of_the_standard_library_can_be_imported(editor: Editor) -> None:
    text = USER.replace("from std.warp import warp_sum\n", "")
    editor.open("library.prism", TWICE)
    (problem,) = editor.open("import.prism", text)
    (fix,) = actions(editor, "import.prism", problem.range)
    assert fix.title == "import `warp_sum` from `std.warp`"
    assert applied(text, edits_of(fix, editor.uri("import.prism"))) == USER


def test_all_certain_fixes_at_once(editor: Editor) -> None:
    text = "const A: int = 1;\nconst B: int = 2;\n"
    editor.open("all.prism", text)
    whole = types.Range(types.Position(0, 0), types.Position(2, 0))
    (action,) = actions(editor, "all.prism", whole, "source.fixAll")
    assert applied(text, edits_of(action, editor.uri("all.prism"))) == text.replace(";", "")
    (quick,) = actions(editor, "all.prism", whole, "quickfix")[:1]
    assert quick.is_preferred


# --------------------------------------------------------------------------- looks


def test_outline_and_folds_hold_in_a_broken_file(editor: Editor) -> None:
    text = REVERSE.replace("u := 255", "u := := (")
    editor.open("outline.prism", text)
    document = editor.document("outline.prism")
    symbols = editor.do(
        editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    )
    assert [(s.name, s.detail) for s in symbols or ()] == [("SIZE", "const"), ("reverse", "kernel")]
    whole = editor.change("outline.prism", REVERSE)
    assert whole == []
    folds = editor.do(
        editor.client.text_document_folding_range_async(types.FoldingRangeParams(document))
    )
    lines = {(fold.start_line, fold.end_line) for fold in folds or ()}
    assert (place(REVERSE, "kernel").line, place(REVERSE, "out[0]").line) in lines


def test_inlay_hints_show_the_barrier_and_inferred_types(editor: Editor) -> None:
    editor.open("hints.prism", REVERSE)
    params = types.InlayHintParams(
        editor.document("hints.prism"), types.Range(types.Position(0, 0), types.Position(99, 0))
    )
    hints = editor.do(editor.client.text_document_inlay_hint_async(params)) or []
    shown = sorted(((hint.position, hint.label) for hint in hints), key=lambda each: each[0])
    assert shown == [
        (place(REVERSE, "u :=", 1), ": i32 @ block[1]"),
        (place(REVERSE, "out[0]"), "block barrier of block[1]"),
    ]


def test_semantic_tokens(editor: Editor) -> None:
    editor.open("tokens.prism", REVERSE)
    params = types.SemanticTokensParams(editor.document("tokens.prism"))
    found = editor.do(editor.client.text_document_semantic_tokens_full_async(params))
    assert found is not None
    legend = editor.server.semantic_tokens_provider
    assert isinstance(legend, types.SemanticTokensOptions)
    names = legend.legend.token_types
    line = column = 0
    kinds: dict[str, str] = {}
    rows = REVERSE.split("\n")
    for delta, start, length, kind, _ in zip(*[iter(found.data)] * 5, strict=True):
        line, column = line + delta, start if delta else column + start
        kinds[rows[line][column : column + length]] = names[kind]
    assert kinds["reverse"] == "function"
    assert kinds["x"] == "parameter"
    assert kinds["f32"] == "type"
    assert kinds["tile"] == "variable"


# --------------------------------------------------------------------------- life


def test_options_and_units_of_the_client(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.prism").write_text("const K: int = 1\n", encoding="utf-8")
    editor = Editor(
        tmp_path,
        encodings=["utf-8"],
        target="sm_12",
        races="off",
        include=[str(tmp_path / "parts")],
        defines={"N": "2"},
    )
    assert any("sm_12" in message for message in editor.messages)
    text = "from part import K\nconst N: int = 1\nconst S: int = N  # 🙂\nstatic = é + 1\n"
    found = editor.open("units.prism", text)
    assert [each.code for each in found] == ["P0101"] or found
    assert all(each.range.start.line == 3 for each in found)
    good = 'from part import K\n@requires(thread[1])\ndef f():\n    assert true, "🙂🙂" + M\n'
    found = editor.open("wide.prism", good.replace(" + M", "").replace("true", "K == M"))
    assert found[0].code == "P0201"
    assert editor.stop() == 0


def test_options_that_are_not_understood(tmp_path: Path) -> None:
    told = ["prismc: no option `tagret`: did you mean `target`?"]
    editor = Editor(tmp_path, tagret="sm_80", races=None)
    assert editor.messages == told
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"prismc": {"tagret": "sm_90"}})
    )
    editor.hover("never_opened.prism", types.Position(0, 0))
    assert editor.messages == told * 2
    assert editor.stop() == 0


def test_requests_for_unknown_files_have_empty_answers(editor: Editor) -> None:
    at = types.Position(0, 0)
    assert editor.hover("never_opened.prism", at) == ""
    assert editor.items("never_opened.prism", at) == []
    assert editor.client.protocol is not None
