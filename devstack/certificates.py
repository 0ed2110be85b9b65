"""A certificate authority for one run, and certificates of its making: for servers that are verified as those of AWS are."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

VALID_FOR = timedelta(days=7)
_USE = {
    "content_commitment": False,
    "data_encipherment": False,
    "key_agreement": False,
    "encipher_only": False,
    "decipher_only": False,
    "key_encipherment": False,
}


@dataclass(frozen=True, slots=True)
class Authority:
    """Whoever trusts `pem` believes the names in what it has certified."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def make(cls, name: str) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name)
        signs = x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **_USE)
        certificate = (
            _draft(subject, subject, key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(signs, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def certify(self, host: str, path: Path) -> None:
        """Write a certificate for this host name, with its key, into one file that only its owner reads."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _draft(_name(host), self.certificate.subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.touch(mode=0o600)
        path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))


def _draft(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + VALID_FOR)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
