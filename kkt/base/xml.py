"""Users' XML, parsed without entities and external documents; what is wrong is one sentence.

Files are read as the simulators do that read them: blanks may stand before the declaration, prefixes
need not be declared, and a default namespace is that of all elements.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from .errors import UnreadableError

DECLARED = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.-]+)[\"'][^>]*\?>")
PREFIX = re.compile(rb"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]")
ROOT = re.compile(rb"<[A-Za-z_][\w:.-]*")
UNBOUND, UNKNOWN = "unbound prefix", "unknown encoding"


def root_of(text: bytes | str) -> Element:
    """The root element of an XML text.  Raises UnreadableError where the text is no XML."""
    given = text.encode() if isinstance(text, str) else text
    body = given.lstrip(b" \t\r\n")
    lines = given[: len(given) - len(body)].count(b"\n")
    try:
        root = _parsed(body)
    except ParseError as error:
        line, column = error.position
        why = str(error).split(":")[0]
        raise UnreadableError(
            f"line {line + lines}, column {column + 1}", f"is not XML ({why})", "mend it"
        ) from None
    except DefusedXmlException as error:
        what = type(error).__name__
        raise UnreadableError(
            f"holds an XML entity or document type that is refused ({what})", remedy="write it out"
        ) from None
    except (ValueError, LookupError):  # the encoding is unknown, or the text is not in it
        raise UnreadableError(
            "is not text in the encoding that it names", remedy="save it as UTF-8"
        ) from None
    if root.tag.startswith("{"):  # of a default namespace, which says nothing here
        space = root.tag[: root.tag.index("}") + 1]
        for element in root.iter():
            element.tag = element.tag.removeprefix(space)
    return root


def _parsed(text: bytes) -> Element:
    try:
        return fromstring(text)
    except (ParseError, ValueError, LookupError) as error:
        declared = DECLARED.match(text)
        if str(error).startswith(UNBOUND):
            prefixes = sorted({*PREFIX.findall(text)} - {b"xml", b"xmlns"})
            spaces = b"".join(b' xmlns:%s="urn:%s"' % (x, x) for x in prefixes if b"xmlns:" + x not in text)
            return fromstring(ROOT.sub(lambda found: found[0] + spaces, text, count=1))
        if declared is not None and (UNKNOWN in str(error) or not isinstance(error, ParseError)):
            return fromstring(text[declared.end() :].decode(declared[1].decode()))
        raise
