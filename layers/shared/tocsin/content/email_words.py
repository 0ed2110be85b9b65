"""The words that a mail has besides its own, in each language that is shipped. Pure."""

from dataclasses import dataclass
from types import MappingProxyType

from tocsin.foundation.languages import SHIPPED


@dataclass(frozen=True, slots=True)
class Phrases:
    open: str
    unsubscribe: str
    preferences: str
    severity: MappingProxyType[str, str]
    reasons: MappingProxyType[str, str]  # by the audience's reason; `account` or `address` where there is none
    one_update: str
    updates: str
    since: str
    more: str


def _words(open_: str, unsubscribe: str, preferences: str, grave: tuple[str, str], digest: tuple[str, ...], why: str) -> Phrases:
    """`why` has a line for each reason, the strongest first, each the end of the sentence that its first line begins."""
    names = ("mention", "review_requested", "assign", "author", "comment", "subscribed", "watching", "account", "address")
    begin, *lines = [line.strip() for line in why.strip().splitlines()]
    reasons = {name: f"{begin} {line}" for name, line in zip(names, lines, strict=True)}
    severity = dict(zip(("warning", "critical"), grave, strict=True))
    return Phrases(open_, unsubscribe, preferences, MappingProxyType(severity), MappingProxyType(reasons), *digest)


_ENGLISH = _words(
    "Open {host}",
    "Unsubscribe",
    "Notification settings",
    ("Warning", "Critical"),
    ("1 more update", "{count} more updates", "{updates} since the last email about this:", "… and {count} more"),
    """You get this email because
    you were mentioned.
    your review was asked for.
    this is assigned to you.
    you started this thread.
    you took part in this thread.
    you follow this thread.
    you watch what happens here.
    you have an account with {brand}.
    {brand} was given your address.""",
)
_GERMAN = _words(
    "{host} öffnen",
    "Abmelden",
    "Benachrichtigungen einstellen",
    ("Warnung", "Kritisch"),
    ("1 weitere Neuigkeit", "{count} weitere Neuigkeiten", "{updates} seit der letzten E-Mail dazu:", "… und {count} weitere"),
    """Sie erhalten diese E-Mail, weil
    Sie erwähnt wurden.
    Sie um Durchsicht gebeten wurden.
    Ihnen dies zugewiesen ist.
    Sie dieses Thema begonnen haben.
    Sie sich an diesem Thema beteiligt haben.
    Sie diesem Thema folgen.
    Sie beobachten, was hier geschieht.
    Sie ein Konto bei {brand} haben.
    {brand} Ihre Adresse bekommen hat.""",
)
_FRENCH = _words(
    "Ouvrir {host}",
    "Se désabonner",
    "Réglages des notifications",
    ("Avertissement", "Critique"),
    (
        "1 autre nouveauté",
        "{count} autres nouveautés",
        "{updates} depuis le dernier e-mail à ce sujet :",
        "… et {count} de plus",
    ),
    """Vous recevez cet e-mail parce que
    votre nom a été mentionné.
    votre relecture a été demandée.
    ceci vous est attribué.
    vous avez lancé ce fil de discussion.
    vous avez pris part à ce fil de discussion.
    vous suivez ce fil de discussion.
    vous suivez ce qui se passe ici.
    vous avez un compte chez {brand}.
    votre adresse a été donnée à {brand}.""",
)
_SPANISH = _words(
    "Abrir {host}",
    "Cancelar la suscripción",
    "Ajustes de notificaciones",
    ("Advertencia", "Crítico"),
    (
        "1 novedad más",
        "{count} novedades más",
        "{updates} desde el último correo sobre esto:",
        "… y {count} más",
    ),
    """Recibe este correo porque
    se ha mencionado su nombre.
    se ha pedido su revisión.
    esto se le ha asignado.
    inició esta conversación.
    participó en esta conversación.
    sigue esta conversación.
    sigue lo que ocurre aquí.
    tiene una cuenta en {brand}.
    {brand} recibió su dirección.""",
)
WORDS = MappingProxyType(dict(zip(SHIPPED, (_ENGLISH, _GERMAN, _FRENCH, _SPANISH), strict=True)))


def colon(language: str) -> str:
    """French has a space before it that does not break."""
    return "\u00a0:" if language == "fr" else ":"


def why(reason: str, *, brand: str, is_known: bool, language: str) -> str:
    """Why somebody got a mail. `is_known`: it went to a user, not to a bare address."""
    reasons = WORDS[language].reasons
    if reason in reasons:
        return reasons[reason]
    return reasons["account" if is_known else "address"].format(brand=brand) if brand else ""
