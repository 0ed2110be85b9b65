"""Encryption of stored secrets with the installation's key: AES-256-GCM in KMS, bound to tenant and purpose by their context."""

from uuid import UUID

from tocsin.foundation import aws

MAX_PLAINTEXT = 4096  # what KMS takes; a service account's JSON fits


class CannotSeal(Exception):
    """KMS cannot be asked just now, or refuses. Nothing is stored in clear instead: the door answers 503."""


def seal(plaintext: str, *, tenant_id: UUID, purpose: str, key_arn: str) -> bytes:
    try:
        answer = aws.client("kms").encrypt(
            KeyId=key_arn, Plaintext=plaintext.encode(), EncryptionContext=_context(tenant_id, purpose)
        )
    except Exception as error:  # its class is enough: the message may quote the request
        raise CannotSeal(type(error).__name__) from None
    ciphertext: bytes = answer["CiphertextBlob"]
    return ciphertext


def unseal(ciphertext: bytes, *, tenant_id: UUID, purpose: str) -> str:
    """Fails when the ciphertext was sealed for another tenant or purpose: a row's secret cannot be moved to another row."""
    answer = aws.client("kms").decrypt(CiphertextBlob=ciphertext, EncryptionContext=_context(tenant_id, purpose))
    plaintext: bytes = answer["Plaintext"]
    return plaintext.decode()


def _context(tenant_id: UUID, purpose: str) -> dict[str, str]:
    return {"tenant": str(tenant_id), "purpose": purpose}
