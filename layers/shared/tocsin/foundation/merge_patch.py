"""JSON Merge Patch (RFC 7396): what is named is changed, null removes, the rest stays. Pure."""

from typing import Any

MEDIA_TYPE = "application/merge-patch+json"


def merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    kept = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = merged(kept.get(name), value)
    return kept
