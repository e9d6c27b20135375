"""How the web is asked, by whatever task fetches pages."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from xfact.config import Section, as_list


class FetchConfig(Section):
    """How pages are fetched from the web."""

    user_agent: str = Field("xfact (research on fact-checking)", min_length=1, pattern=r"^[A-Za-z][\x20-\x7e]*$")
    delay: float = Field(1.0, ge=0)  # seconds between two requests to a host
    concurrent: int = Field(8, ge=1, strict=True)  # hosts at once
    connect_timeout: float = Field(10.0, gt=0)  # seconds
    read_timeout: float = Field(10.0, gt=0)  # seconds without a byte
    timeout: float = Field(30.0, gt=0)  # seconds of a whole request
    max_bytes: int = Field(5_000_000, ge=1, strict=True)  # of a page, decompressed
    redirects: int = Field(5, ge=0, strict=True)
    tries: int = Field(3, ge=1, strict=True)
    longest_wait: float = Field(60.0, ge=0)  # seconds before another try
    allow_private: Annotated[list[str], BeforeValidator(as_list)] = Field([])  # hosts that may be in a private network
