"""Check the pages at the top level and in docs/: the files and headings of links exist, and lines are not too long.

Web addresses are not requested; only links within this repository are checked. Tables, code blocks, pages that are
generated, and lines that cannot be broken, such as a long link, may be longer.
"""

import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
MAX_LENGTH = 125
GENERATED = {"configuration.md"}
UNWRAPPED = {"fence", "code_block", "table_open", "html_block"}
# A word of a line: code has its spaces, and what begins a line (of a list or quotation) belongs to the first word.
WORD = re.compile(r"(?:`[^`]*`|[^\s`]|`)+")
BEGINNING = re.compile(r"(?:\s|>|[-*+] |\d+[.)] )*")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    tokens = MarkdownIt().parse(page.read_text())
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    """Return the targets of a page's links and pictures."""
    inline = [token for token in MarkdownIt().enable("table").parse(page.read_text()) if token.type == "inline"]
    children = [child for token in inline for child in token.children or ()]
    targets = [child.attrGet("href") or child.attrGet("src") for child in children if child.attrs]
    return [str(target) for target in targets if target]


def broken(page: Path) -> list[str]:
    """Return a line for each broken link of a page."""
    found = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        if name == "api/index.rst":
            continue  # make docs writes the reference, and checks links to it
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            found.append(f"{page.relative_to(ROOT)}: no such file: {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            found.append(f"{page.relative_to(ROOT)}: no such heading: {link}")
    return found


def long_lines(text: str) -> list[int]:
    """Return the numbers of the lines of a page that are too long, although they can be broken."""
    tokens = MarkdownIt().enable("table").parse(text)
    wide = [range(*token.map) for token in tokens if token.type in UNWRAPPED and token.map]
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MAX_LENGTH and can_be_broken(line) and not any(number - 1 in lines for lines in wide)
    ]


def can_be_broken(line: str) -> bool:
    """Return whether a line has a place for a line break."""
    return len(WORD.findall(BEGINNING.sub("", line, count=1))) > 1


def main() -> None:
    """Fail with a line for each broken link, long line, unlinked page and page without a table of contents."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    wrong = [line for page in sorted(pages) for line in broken(page)]
    wrong += [
        f"{page.relative_to(ROOT)}:{number}: longer than {MAX_LENGTH} characters"
        for page in sorted(pages)
        if page.name not in GENERATED
        for number in long_lines(page.read_text())
    ]
    unlinked = {page.name for page in ROOT.glob("docs/*.md")} - {
        Path(link.partition("#")[0]).name for page in pages for link in links(page)
    }
    wrong += [f"docs/{name}: no page links to it" for name in sorted(unlinked)]
    listed = set(re.findall(r"^([\w-]+)$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)) | {"index"}
    unlisted = {page.stem for page in ROOT.glob("docs/*.md")} - listed
    wrong += [f"docs/{name}.md: it is in no table of contents of docs/index.md" for name in sorted(unlisted)]
    if wrong:
        sys.exit("\n".join(wrong))
    sys.stdout.write(f"{len(pages)} pages, {sum(len(links(page)) for page in pages)} links: all lead somewhere\n")


if __name__ == "__main__":
    main()
