"""A name with linkage has one class: two are one to the linker, which may run the destructor of one on the other."""
import collections
import re

from layers import ROOMS, ROOT, sources

UNREAD = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | ^[ ]*\#(?:[^\n]*\\\n)*[^\n]* | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'(?!\w)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)$")
CLASS = re.compile(
    r"(?:template\s*<.*>\s*)?(?:requires\s.*\s)?(?:struct|class|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*|\[\[\w+\]\]\s*)?"
    r"(\w+)(?:\s+final)?(?:\s*:[^:].*)?$",
    re.DOTALL,
)
INSIDE = "{"  # a block that gives its contents no linkage: a function, an unnamed namespace


def classes(text):
    """The qualified names of the classes that `text` defines for other files."""
    text = UNREAD.sub(" ", text)
    open_blocks, begin = [], 0
    for brace in re.finditer(r"[{};]", text):
        if brace.group() == "{":
            head = text[begin : brace.start()].strip()
            namespace, kind = NAMESPACE.match(head), CLASS.match(head)
            name = (namespace or kind).group(1) if namespace or kind else INSIDE
            if kind and INSIDE not in open_blocks:
                yield "::".join([*open_blocks, name])
            open_blocks.append(name or INSIDE)
        elif brace.group() == "}" and open_blocks:
            open_blocks.pop()
        begin = brace.end()


def test_a_class_is_defined_in_one_file():
    found = collections.defaultdict(set)
    for room in ROOMS:
        for path in sources(room):
            for name in classes(path.read_text()):
                found[name].add(str(path.relative_to(ROOT)))
    assert len(found) > 800
    wrong = [f"{name}: {', '.join(sorted(files))}" for name, files in sorted(found.items()) if len(files) > 1]
    assert not wrong, "\n".join(wrong)


def test_classes_of_functions_and_unnamed_namespaces_may_share_a_name():
    text = """
        namespace a { struct One { char c = '{'; struct Two : Base { }; }; enum class Three : char { kA };
        namespace { struct Hidden { }; } void f() { struct Local { }; } }  // namespace b { struct Four { };
    """
    assert list(classes(text)) == ["a::One", "a::One::Two", "a::Three"]
