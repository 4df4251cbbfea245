"""Users' XML, parsed without entities and external documents; what is wrong is one sentence."""

from __future__ import annotations

from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from .errors import UnreadableError


def root_of(text: bytes | str) -> Element:
    """The root element of an XML text.  Raises UnreadableError where the text is no XML."""
    try:
        root = fromstring(text)
    except ParseError as error:
        line, column = error.position
        why = str(error).split(":")[0]
        raise UnreadableError(f"line {line}, column {column + 1}: is not XML ({why}); mend it") from None
    except DefusedXmlException as error:
        what = type(error).__name__
        raise UnreadableError(
            f"holds an XML entity or document type that is refused ({what}); write it out"
        ) from None
    except (ValueError, LookupError):  # the encoding is unknown, or the text is not in it
        raise UnreadableError("is not text in the encoding that it names; save it as UTF-8") from None
    return root
