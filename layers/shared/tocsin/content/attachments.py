"""Files of an email: what they are called, which no mail carries, and how large they may be. Pure."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

MAX_FILES = 10
MAX_BYTES = 5 * 1024 * 1024  # of all files of one email
MAX_NAME = 200
USUAL_TYPE = "application/octet-stream"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f-\x9f/\\"<>:|?*\u2028\u2029\u202a-\u202e\u2066-\u2069]')
_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}/[a-z0-9][a-z0-9.+-]{0,60}", re.I)
# What SES refuses: programs, and what a program opens as one.
_REFUSED = _words("""
    ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag
    mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg
    prf prg reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf
    wsh xnk
""")
_REFUSED_TYPES = frozenset(("application/x-msdownload", "application/x-msdos-program", "application/x-ms-installer"))


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file as it goes out."""

    name: str
    content_type: str
    data: bytes = field(repr=False)


def name_of(url: str) -> str:
    """What a file is called that says nothing else: the last part of its address."""
    try:
        last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    except ValueError:
        last = ""
    return _NOT_IN_NAMES.sub("_", last).strip(" .")[-MAX_NAME:] or "attachment"


def is_name(text: str) -> bool:
    return 1 <= len(text) <= MAX_NAME and not _NOT_IN_NAMES.search(text) and text.strip(" .") == text


def is_type(text: str) -> bool:
    return _TYPE.fullmatch(text) is not None


def refused_ending(name: str) -> str | None:
    """The ending for which no provider takes a file; None: it may be sent."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return ending if ending in _REFUSED else None


def is_refused_type(content_type: str) -> bool:
    return content_type.lower() in _REFUSED_TYPES


def type_in(header: str) -> str:
    """The type that an answer says it has, or that of any bytes."""
    told = header.partition(";")[0].strip().lower()
    return told if is_type(told) else USUAL_TYPE
