"""The faults that the checks of a deployment must find."""

from tests.template import checks_of_deployment as deployment
from tests.template import checks_of_edges as edges
from tests.template.faults import Fault

_LOG_KEY = ("Resources", "LogKey", "Properties", "KeyPolicy", "Statement", 1, "Condition", "ArnLike")
_ADMITTED = "kms:EncryptionContext:aws:logs:arn"

ON_TRANSLATED: tuple[Fault, ...] = (
    Fault(
        deployment.what_is_kept_has_no_fixed_name,
        ("Resources", "MigrateLogs", "Properties"),
        lambda there: {**there, "LogGroupName": "/tocsin/migrate"},
    ),
    Fault(
        deployment.functions_log_from_the_level_that_is_asked_for,
        ("Resources", "LiveFunction", "Properties", "LoggingConfig", "ApplicationLogLevel"),
        "INFO",
        {"LogLevel": "DEBUG"},
    ),
    Fault(deployment.functions_log_from_the_level_that_is_asked_for, ("Parameters", "LogLevel", "Default"), "ERROR"),
    Fault(
        deployment.functions_log_from_the_level_that_is_asked_for,
        ("Resources", "MigrateFunction", "Properties", "LoggingConfig", "ApplicationLogLevel"),
    ),
    Fault(deployment.why_a_migration_failed_outlives_the_rollback, ("Resources", "MigrateLogs", "DeletionPolicy")),
    Fault(edges.keys_serve_the_logs_they_encrypt, (*_LOG_KEY, _ADMITTED, 1)),
    Fault(edges.keys_serve_the_logs_they_encrypt, (*_LOG_KEY, _ADMITTED, 0)),
)
ON_SAM: tuple[Fault, ...] = (
    Fault(
        deployment.no_parameter_replaces_the_database,
        ("Resources", "Database", "Properties", "DBName"),
        {"Ref": "DatabaseName"},
    ),
    Fault(
        deployment.no_parameter_replaces_the_database,
        ("Resources", "Database", "Properties", "Port"),
        {"Fn::If": ["IsProduction", 5432, {"Ref": "DatabasePort"}]},
    ),
)
