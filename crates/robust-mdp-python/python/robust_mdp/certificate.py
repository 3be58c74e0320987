"""Certificates: proofs of bounds that can be checked without trusting the solver."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _checks, _native
from ._arrays import FloatArray, frozen
from ._frozen import ReadOnly

if TYPE_CHECKING:
    from .model import Model

# docs/certificates.md: magic, version, names, fingerprint, discount, four counts, claim.
_HEADER = struct.Struct("<8sI9s16sd4Q3d")
_VERSION = 8
Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Certificate:
    """A proof of bounds, as bytes; :func:`verify` checks it.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> certificate = rm.solve(model, rm.KL(0.05)).certificate
    >>> proved = rm.verify(model, certificate)
    >>> bool(proved.gap < 1e-4)
    True
    """

    data: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise TypeError(f"expected bytes, not {type(self.data).__name__}")
        if len(self.data) < _HEADER.size or not self.data.startswith(b"RMDPCERT"):
            raise _native.CertificateError("not a certificate: it does not begin with RMDPCERT")
        version = _HEADER.unpack_from(self.data)[1]
        if version != _VERSION:
            raise _native.CertificateError(f"a certificate of version {version}, expected {_VERSION}")

    @property
    def claim(self) -> tuple[float, float, float]:
        """Lower and upper bound at the initial distribution and the gap that it claims."""
        return _HEADER.unpack_from(self.data)[-3:]

    @property
    def discount(self) -> float:
        """The discount factor that it is about."""
        discount: float = _HEADER.unpack_from(self.data)[4]
        return discount

    @property
    def fingerprint(self) -> str:
        """Of the model that it is about."""
        return f"{int.from_bytes(_HEADER.unpack_from(self.data)[3], 'little'):032x}"

    def save(self, path: Path) -> None:
        """Write the file that ``rmdp verify`` reads too, as a whole or not at all."""
        path = os.fspath(path)
        part = f"{path}.{os.getpid()}.tmp"
        try:
            with open(part, "wb") as file:
                file.write(self.data)
            os.replace(part, path)
        except BaseException:
            if os.path.exists(part):
                os.unlink(part)
            raise

    @staticmethod
    def load(path: Path) -> Certificate:
        """Read a file."""
        with open(path, "rb") as file:
            return Certificate(file.read())

    def __repr__(self) -> str:
        low, high, gap = self.claim
        return f"Certificate(value in [{low:.8g}, {high:.8g}], gap={gap:.2g}, {len(self.data)} bytes)"


@dataclass(frozen=True, eq=False)
class Verified(ReadOnly):
    """What a certificate proves.

    Attributes
    ----------
    lower, upper : arrays over states
        Of the optimal value and of the policy's worst case, with every rounding counted.
    value : tuple of float
        The bounds at the initial distribution.
    gap : float
        No state's bounds are farther apart.
    """

    lower: FloatArray
    upper: FloatArray
    value: tuple[float, float]
    gap: float

    def __repr__(self) -> str:
        return f"Verified(value in [{self.value[0]:.8g}, {self.value[1]:.8g}], gap={self.gap:.2g})"


def verify(
    model: Model,
    certificate: Certificate | bytes,
    *,
    discount: float | None = None,
    threads: int | None = None,
) -> Verified:
    """Check a certificate against a model. Nothing that it says is trusted.

    Parameters
    ----------
    model : Model
    certificate : Certificate or bytes
    discount : float, optional
        In place of the model's; a model without one takes the certificate's.
    threads : int, optional
        All cores unless given; the answer does not depend on it.

    Raises
    ------
    CertificateError
        If it is about something else or does not prove what it claims.
    """
    model = _checks.model(model)
    if isinstance(certificate, bytes):
        certificate = Certificate(certificate)
    if not isinstance(certificate, Certificate):
        raise TypeError(f"certificate: expected a Certificate or bytes, not {certificate!r}")
    threads = None if threads is None else _checks.count("threads", threads, 1)
    if discount is None and model.discount is None:
        discount = certificate.discount
    model = model._discounted(discount)
    lower, upper, value, gap = _native.verify(model._native, certificate.data, threads)
    return Verified(frozen(lower), frozen(upper), value, gap)
