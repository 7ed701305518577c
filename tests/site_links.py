"""Parse the pages of a built site, and find links that lead nowhere."""

from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The addresses, ids and inline code of a page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.resources, self.ids, self.inline = [], [], [], []
        self._script = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.addresses.append(found["href"])
        elif tag in ("script", "link", "img"):
            self.resources += [found[name] for name in ("src", "href") if name in found]
        if tag == "script":
            self._script = found.get("type", "")
        self.inline += [name for name in found if name.startswith("on") or name == "style"]

    def handle_data(self, data):
        if self._script == "" and data.strip():
            self.inline.append(data)

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None


def parsed(site):
    """The parsed pages of a site, by their path in it."""
    return {
        str(path.relative_to(site)): Links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def broken_links(site, pages):
    """The links to missing files or anchors of the site, and all resources loaded from elsewhere.

    Links to other sites are fine.
    """
    files = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    anchors = {path: set(page.ids) for path, page in pages.items()}
    broken = []
    for path, page in pages.items():
        for address in dict.fromkeys([*page.addresses, *page.resources]):
            parts = urlsplit(address)
            if parts.scheme in ("http", "https") and address in page.addresses:
                continue
            target = normpath(join(dirname(path), parts.path)) if parts.path else path
            missing = parts.fragment and unquote(parts.fragment) not in anchors.get(target, ())
            if parts.scheme or target not in files or missing:
                broken.append(f"{path}: {address}")
    return broken
