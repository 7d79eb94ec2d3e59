# SPDX-License-Identifier: Apache-2.0
"""XML text to an element tree, refusing what could cost unbounded time or memory.

Document type declarations, and with them every entity (billion laughs, file:// entities), are refused when
the parser meets the declaration, before anything is expanded or opened.
"""

import codecs
import re
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ..errors import UnsafeXmlError, UrdfSyntaxError, listed, quoted

# The largest real URDF measured is 0.2 MB, 12 levels deep and 6000 elements.
MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 64
MAX_ELEMENTS = 300_000

_ENCODINGS = {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii", "iso8859-1", "cp1252"}
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
]
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")


def decode(data: bytes) -> str:
    """The text of an XML document, by its byte order mark or its declared encoding (UTF-8 by default).

    Raises:
        UrdfSyntaxError: an unknown encoding, or bytes that are not in the declared one.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None:
        declared = _DECLARED.match(data)
        encoding = declared.group(1).decode("ascii") if declared else "utf-8"
        try:
            encoding = codecs.lookup(encoding).name
        except LookupError:
            pass  # refused just below, by its own name
        if encoding not in _ENCODINGS:
            raise UrdfSyntaxError(
                f"XML encoding {quoted(encoding)}; valid: {listed(sorted(_ENCODINGS))}"
            )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UrdfSyntaxError(f"not XML: byte {error.start} is not {encoding}") from None


def parse_xml(text: str) -> Element:
    """The root element of an XML document, without comments, namespaces left as written.

    Args:
        text: the document, decoded; an encoding declared in it is ignored.

    Raises:
        UrdfSyntaxError: not well-formed XML.
        UnsafeXmlError: a document type or entity declaration, or a document too large or too deep.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UrdfSyntaxError(f"not XML: character {error.start} is no Unicode character") from None
    if len(data) > MAX_BYTES:
        raise UnsafeXmlError(f"XML of {len(data)} bytes: at most {MAX_BYTES} are parsed")
    parser = expat.ParserCreate("utf-8")
    builder = _BoundedBuilder(parser)
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.EntityDeclHandler = _refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UrdfSyntaxError(f"not XML: {error}") from None
    return builder.close()


def _refuse_doctype(name: str, *_: object) -> None:
    raise UnsafeXmlError(
        f"XML declares a document type or an entity, {quoted(name)}: a URDF has neither"
    )


class _BoundedBuilder:
    """A TreeBuilder that counts elements and levels, and drops text (URDF keeps its data in attributes)."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._builder = TreeBuilder()
        self._depth = 0
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise UnsafeXmlError(
                f"XML line {self._parser.CurrentLineNumber}, element {quoted(tag)}: more than "
                f"{MAX_DEPTH} levels or {MAX_ELEMENTS} elements"
            )
        self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag)

    def close(self) -> Element:
        return self._builder.close()
