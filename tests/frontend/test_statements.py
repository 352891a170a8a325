"""Every statement and declaration: what its node holds, and which characters it covers."""

from __future__ import annotations

import pytest

from prismc.frontend import ast
from prismc.frontend.show import show_tree
from support.syntax import body, in_function, parse_clean, statement

# Each statement, and the tree that it is: the output of `show_tree`, which names every field.
STATEMENTS = {
    "x: int": """
        2:5 Declare name=x
          type 2:8 Reference name='int'
    """,
    "x: f32[4] @ P = 0": """
        2:5 Declare name=x
          type 2:8 Index
            value 2:8 Reference name='f32'
            arguments 2:12 Integer value=4 text='4'
          at 2:15 At
            perspective 2:17 Reference name='P'
          value 2:21 Integer value=0 text='0'
    """,
    "x := id()": """
        2:5 Declare name=x
          value 2:10 Call
            callee 2:10 Reference name='id'
    """,
    "a, b := f(x)": """
        2:5 DeclareSeveral names=a,b
          value 2:13 Call
            callee 2:13 Reference name='f'
            arguments 2:15 Reference name='x'
    """,
    "const N: int = 3": """
        2:5 ConstantDeclaration name=N
          type 2:14 Reference name='int'
          value 2:20 Integer value=3 text='3'
    """,
    "const N = 3": """
        2:5 ConstantDeclaration name=N
          value 2:15 Integer value=3 text='3'
    """,
    "v.x = 1": """
        2:5 Assign operator=''
          target 2:5 Member name=x
            value 2:5 Reference name='v'
          value 2:11 Integer value=1 text='1'
    """,
    "x[i] <<= 1": """
        2:5 Assign operator='<<'
          target 2:5 Index
            value 2:5 Reference name='x'
            arguments 2:7 Reference name='i'
          value 2:14 Integer value=1 text='1'
    """,
    "x, y = y, x": """
        2:5 AssignSeveral
          targets 2:5 Reference name='x'
          targets 2:8 Reference name='y'
          values 2:12 Reference name='y'
          values 2:15 Reference name='x'
    """,
    "f(1)": """
        2:5 ExpressionStatement
          value 2:5 Call
            callee 2:5 Reference name='f'
            arguments 2:7 Integer value=1 text='1'
    """,
    "shared s: f32[8] @ thread[32] align 128 layout g": """
        2:5 Shared name=s
          type 2:15 Index
            value 2:15 Reference name='f32'
            arguments 2:19 Integer value=8 text='8'
          at 2:22 At
            perspective 2:24 PerspectiveLiteral level='thread'
              size 2:31 Integer value=32 text='32'
          align 2:41 Integer value=128 text='128'
          layout 2:52 Reference name='g'
    """,
    "shared s: int layout g": """
        2:5 Shared name=s
          type 2:15 Reference name='int'
          layout 2:26 Reference name='g'
    """,
    "return": "2:5 Return",
    "return a, b": """
        2:5 Return
          values 2:12 Reference name='a'
          values 2:15 Reference name='b'
    """,
    "break": "2:5 Break",
    "continue": "2:5 Continue",
    "pass": "2:5 Pass",
    'assert a, "t" "u"': """
        2:5 Assert
          condition 2:12 Reference name='a'
          message 2:15 String value='tu'
    """,
    "static assert a": """
        2:5 Assert is_static=True
          condition 2:19 Reference name='a'
    """,
    "if a: pass": """
        2:5 If
          condition 2:8 Reference name='a'
          body 2:11 Pass
    """,
    "static if a: pass\nelif b: break\nelse: continue": """
        2:5 If is_static=True
          condition 2:15 Reference name='a'
          body 2:18 Pass
          otherwise 3:5 If is_static=True
            condition 3:10 Reference name='b'
            body 3:13 Break
            otherwise 4:11 Continue
    """,
    "while a: pass": """
        2:5 While
          condition 2:11 Reference name='a'
          body 2:14 Pass
    """,
    "for i in range(n): pass": """
        2:5 For variable=i mode=''
          range 2:20 Reference name='n'
          body 2:24 Pass
    """,
    "static for i in range(0, n, 2): pass": """
        2:5 For variable=i mode='static'
          range 2:27 Integer value=0 text='0'
          range 2:30 Reference name='n'
          range 2:33 Integer value=2 text='2'
          body 2:37 Pass
    """,
    "unroll for i in range(1, n): pass": """
        2:5 For variable=i mode='unroll'
          range 2:27 Integer value=1 text='1'
          range 2:30 Reference name='n'
          body 2:34 Pass
    """,
    "group block[1]: pass": """
        2:5 Group
          perspective 2:11 PerspectiveLiteral level='block'
            size 2:17 Integer value=1 text='1'
          body 2:21 Pass
    """,
    "group P: pass": """
        2:5 Group
          perspective 2:11 Reference name='P'
          body 2:14 Pass
    """,
    "split warpgroup:\n    case 2: pass\n    case n:\n        break": """
        2:5 Split level='warpgroup'
          cases 3:9 Case
            size 3:14 Integer value=2 text='2'
            body 3:17 Pass
          cases 4:9 Case
            size 4:14 Reference name='n'
            body 5:13 Break
    """,
    "first grid[1]: pass": """
        2:5 First
          perspective 2:11 PerspectiveLiteral level='grid'
            size 2:16 Integer value=1 text='1'
          body 2:20 Pass
    """,
    "partition x as y @ P: pass": """
        2:5 Partition
          pairs 2:15 Narrow name=y
            pointer 2:15 Reference name='x'
            at 2:22 At
              perspective 2:24 Reference name='P'
          body 2:27 Pass
    """,
    "partition S[0] as y @ P at (r, c), z as async w @ P by i => i * 2: pass": """
        2:5 Partition
          pairs 2:15 Narrow name=y
            pointer 2:15 Index
              value 2:15 Reference name='S'
              arguments 2:17 Integer value=0 text='0'
            at 2:25 At
              perspective 2:27 Reference name='P'
            offset 2:33 Reference name='r'
            offset 2:36 Reference name='c'
          pairs 2:40 Narrow name=w is_async=True
            pointer 2:40 Reference name='z'
            at 2:53 At
              perspective 2:55 Reference name='P'
            function 2:60 Lambda parameter=i
              body 2:65 Binary operator='*'
                left 2:65 Reference name='i'
                right 2:69 Integer value=2 text='2'
          body 2:72 Pass
    """,
    "claim x as y @ P at (r + 1) * 2: pass": """
        2:5 Claim
          pairs 2:11 Narrow name=y
            pointer 2:11 Reference name='x'
            at 2:18 At
              perspective 2:20 Reference name='P'
            offset 2:25 Binary operator='*'
              left 2:26 Binary operator='+'
                left 2:26 Reference name='r'
                right 2:30 Integer value=1 text='1'
              right 2:35 Integer value=2 text='2'
          body 2:38 Pass
    """,
    "async x as y, z as w: pass": """
        2:5 Async
          pairs 2:11 Narrow name=y is_async=True
            pointer 2:11 Reference name='x'
          pairs 2:19 Narrow name=w is_async=True
            pointer 2:19 Reference name='z'
          body 2:27 Pass
    """,
    "pipeline k in range(n) through A as a, B as b:\n"
    "    produce: pass\n    consume:\n        break": """
        2:5 Pipeline variable=k
          range 2:25 Reference name='n'
          rings 2:36 Ring pointer=A name=a
          rings 2:44 Ring pointer=B name=b
          produce 3:18 Pass
          consume 5:13 Break
    """,
    "finish done: pass": """
        2:5 Finish
          counter 2:12 Reference name='done'
          body 2:18 Pass
    """,
    "unsafe: pass": """
        2:5 Unsafe
          body 2:13 Pass
    """,
}


def dedented(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return "".join(line[margin:].rstrip() + "\n" for line in lines)


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str) -> None:
    node, parsed = statement(*text.split("\n"))
    assert show_tree(node, parsed.file) == dedented(STATEMENTS[text])
    assert parsed.source(node) == text.replace("\n", "\n    ")


def test_statement_classes_are_all_covered() -> None:
    shown = {dedented(tree).split()[1] for tree in STATEMENTS.values()}
    assert shown == {cls.__name__ for cls in ast.Statement.__subclasses__()}


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("group P :  # why", "group P :"),
        ("first P:", "first P:"),
        ("partition x as y @ P at i:", "partition x as y @ P at i:"),
        ("claim x as y @ P:", "claim x as y @ P:"),
        ("async x as y:", "async x as y:"),
        ("finish c:", "finish c:"),
        ("unsafe:", "unsafe:"),
    ],
)
def test_headers_end_at_the_colon(text: str, header: str) -> None:
    node, parsed = statement(text, "    pass", "", "    # after")
    assert parsed.source(node.header) == header
    assert parsed.source(node) == f"{text}\n        pass"


def test_headers_of_parts() -> None:
    node, parsed = statement("split warp:", "    case 1:", "        pass", "    case 2: pass")
    assert isinstance(node, ast.Split)
    assert parsed.source(node.header) == "split warp:"
    assert [parsed.source(case.header) for case in node.cases] == ["case 1:", "case 2:"]


def test_a_statement_ends_with_its_last_word() -> None:
    parsed = parse_clean(in_function("if a:", "    x = 1  # one", "", "# two", "y = 2", ""))
    first, second = body(parsed)
    assert parsed.source(first) == "if a:\n        x = 1"
    assert parsed.source(second) == "y = 2"


DECLARATIONS = {
    "import a.b": """
        1:1 Import path='a','b'
    """,
    "import block_.block as c": """
        1:1 Import path='block_','block' alias=c
    """,
    "from std.atomic import a, b as c": """
        1:1 FromImport path='std','atomic'
          names 1:24 ImportedName name=a
          names 1:27 ImportedName name=b alias=c
    """,
    "const N: int = 3": """
        1:1 Constant name=N
          type 1:10 Reference name='int'
          value 1:16 Integer value=3 text='3'
    """,
    "export e = k[1, T = f32]": """
        1:1 Export name=e
          value 1:12 Index
            value 1:12 Reference name='k'
            arguments 1:14 Integer value=1 text='1'
            named 1:17 NamedArgument name=T
              value 1:21 Reference name='f32'
    """,
    'test "t": pass': """
        1:1 Test
          name 1:6 String value='t'
          body 1:11 Pass
    """,
    "def f(): return": """
        1:1 Function name=f
          body 1:10 Return
    """,
    "@requires(thread[1])\n@effects()\nunsafe def f[T: type, F: fn(T) -> T]"
    "(a: const T @ P, b: async ptr(T),) -> T @ P: pass": """
        1:1 Function name=f is_unsafe=True
          attributes 1:1 Attribute name=requires
            arguments 1:11 PerspectiveLiteral level='thread'
              size 1:18 Integer value=1 text='1'
          attributes 2:1 Attribute name=effects
          generics 3:14 Generic name=T
            kind 3:17 Reference name='type'
          generics 3:23 Generic name=F
            kind 3:26 FunctionTypeExpression
              parameters 3:29 Reference name='T'
              result 3:35 Reference name='T'
          parameters 3:38 Parameter name=a
            type 3:41 QualifiedType qualifier='const'
              type 3:47 Reference name='T'
            at 3:49 At
              perspective 3:51 Reference name='P'
          parameters 3:54 Parameter name=b
            type 3:57 QualifiedType qualifier='async'
              type 3:63 PointerTypeExpression
                element 3:67 Reference name='T'
          results 3:75 Result
            type 3:75 Reference name='T'
            at 3:77 At
              perspective 3:79 Reference name='P'
          body 3:82 Pass
    """,
    "def f() -> (int, u32 @ P): pass": """
        1:1 Function name=f
          results 1:13 Result
            type 1:13 Reference name='int'
          results 1:18 Result
            type 1:18 Reference name='u32'
            at 1:22 At
              perspective 1:24 Reference name='P'
          body 1:28 Pass
    """,
    "@launch(threads = 32)\nkernel k[N: int](x: ptr(atomic u32)): pass": """
        1:1 Kernel name=k
          attributes 1:1 Attribute name=launch
            named 1:9 NamedArgument name=threads
              value 1:19 Integer value=32 text='32'
          generics 2:10 Generic name=N
            kind 2:13 Reference name='int'
          parameters 2:18 Parameter name=x
            type 2:21 PointerTypeExpression qualifier='atomic'
              element 2:32 Reference name='u32'
          body 2:39 Pass
    """,
}  # fmt: skip


@pytest.mark.parametrize("text", DECLARATIONS)
def test_declaration(text: str) -> None:
    parsed = parse_clean(text)
    (node,) = parsed.tree.declarations
    assert show_tree(node, parsed.file) == dedented(DECLARATIONS[text])
    assert parsed.source(node) == text


def test_declaration_classes_are_all_covered() -> None:
    shown = {dedented(tree).split()[1] for tree in DECLARATIONS.values()}
    assert shown == {cls.__name__ for cls in ast.Declaration.__subclasses__()}


def test_a_functions_header_starts_after_its_attributes() -> None:
    parsed = parse_clean("@requires(thread[1])\nunsafe def f(\n    a: int,\n) -> int:\n    pass\n")
    (node,) = parsed.tree.declarations
    assert isinstance(node, ast.Function)
    assert parsed.source(node.header) == "unsafe def f(\n    a: int,\n) -> int:"
