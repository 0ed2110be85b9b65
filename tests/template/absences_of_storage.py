"""Everything that the database and the archive are told is left out in turn."""

from collections.abc import Iterator

from tests.template import checks_of_storage as storage
from tests.template.everything import at, fault, of
from tests.template.faults import Fault


def faults() -> Iterator[Fault]:
    yield from (
        fault(storage.databases_are_set_as_they_must_be, of("DatabaseSettings", "Parameters", each)) for each in storage.SETTINGS
    )
    yield fault(storage.databases_are_set_as_they_must_be, of("Database", "DBParameterGroupName"))
    yield fault(storage.databases_grow_before_they_are_full, of("Database", "MaxAllocatedStorage"))
    yield fault(storage.databases_grow_before_they_are_full, of("Database", "MaxAllocatedStorage"), 20)
    yield fault(storage.databases_stay_on_their_version, of("Database", "EngineVersion"))
    yield fault(storage.databases_stay_on_their_version, of("Database", "EngineVersion"), "18.1")
    yield fault(storage.databases_stay_on_their_version, of("Database", "AutoMinorVersionUpgrade"))
    for key in ("MultiAZ", "DBInstanceClass", "AllocatedStorage", "BackupRetentionPeriod", "Port", "DeletionProtection"):
        yield fault(storage.databases_are_as_their_parameters_say, of("Database", key))
        yield fault(storage.databases_are_as_their_parameters_say, of("Database", key), "other")
    yield fault(storage.databases_are_measured, of("Database", "MonitoringInterval"))
    closed, ends = storage.archives_are_closed_and_encrypted, storage.archives_end_when_their_parameter_says
    for key in ("PublicAccessBlockConfiguration", "OwnershipControls", "BucketEncryption"):
        yield fault(closed, of("ArchiveBucket", key))
    yield from (fault(closed, of("ArchiveBucket", "PublicAccessBlockConfiguration", key), False) for key in storage.CLOSED)
    encryption = of("ArchiveBucket", "BucketEncryption", "ServerSideEncryptionConfiguration", 0)
    yield fault(closed, (*encryption, "ServerSideEncryptionByDefault", "SSEAlgorithm"), "AES256")
    yield fault(closed, (*encryption, "BucketKeyEnabled"))
    yield fault(closed, ("Resources", "ArchiveBucketPolicy"))
    policy = of("ArchiveBucketPolicy", "PolicyDocument", "Statement", 0)
    for key, value in {"Effect": "Allow", "Principal": {"AWS": "x"}, "Action": "s3:GetObject", "Condition": {}}.items():
        yield fault(closed, (*policy, key), value)
    yield from (fault(closed, (*policy, "Resource", number)) for number in range(len(at((*policy, "Resource")))))
    rule = of("ArchiveBucket", "LifecycleConfiguration", "Rules", 0)
    for key in ("ExpirationInDays", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        yield fault(ends, (*rule, key))
    yield fault(ends, (*rule, "Status"), "Disabled")
    yield fault(ends, (*rule, "ExpirationInDays"), 30)
    yield fault(ends, of("ArchiveBucket", "VersioningConfiguration", "Status"), "Suspended")
