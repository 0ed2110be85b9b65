"""The words of the unsubscribe page, in every language that is shipped. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnsubscribeWords:
    """The `any` ones say as little as a link that is not known."""

    ask_title: str
    ask_kind: str
    ask_thread: str
    ask_any: str
    sender: str
    kind: str
    thread: str
    address: str
    unsubscribe: str
    others: str
    done_title: str
    done_kind: str
    done_thread: str
    done_title_any: str
    done_any: str
    on_its_way: str
    mistake: str
    undo: str
    undone_title: str
    undone_kind: str
    undone_thread: str
    undone_any: str
    still_stopped: str
    preferences: str
    trouble_title: str
    trouble: str
    retry: str


WORDS = {
    "en": UnsubscribeWords(
        ask_title="Unsubscribe?",
        ask_kind="You will no longer get these emails:",
        ask_thread="You will no longer get emails about this thread, unless somebody mentions you:",
        ask_any="You will no longer get emails of this kind, or about this thread.",
        sender="From",
        kind="Kind of email",
        thread="Thread",
        address="Sent to",
        unsubscribe="Unsubscribe",
        others="You will still get other emails.",
        done_title="You are unsubscribed",
        done_kind="You no longer get these emails:",
        done_thread="You no longer get emails about this thread, unless somebody mentions you:",
        done_title_any="Done",
        done_any="If this link was ours, such emails stop. You can close this page.",
        on_its_way="An email that is already on its way may still arrive.",
        mistake="Was that a mistake?",
        undo="Undo",
        undone_title="You are subscribed again",
        undone_kind="You will get these emails again:",
        undone_thread="You will get emails about this thread again:",
        undone_any="If this link was ours, such emails arrive again. You can close this page.",
        still_stopped="Emails to this address are also stopped for another reason, and stay so. The sender can tell you more.",
        preferences="Choose what you receive",
        trouble_title="Please try again",
        trouble="This cannot be saved just now, and nothing has changed. Please try again in a minute.",
        retry="Try again",
    ),
    "de": UnsubscribeWords(
        ask_title="Abmelden?",
        ask_kind="Diese E-Mails erhalten Sie dann nicht mehr:",
        ask_thread="Zu diesem Thema erhalten Sie dann keine E-Mails mehr, außer jemand erwähnt Sie:",
        ask_any="Sie erhalten dann keine E-Mails dieser Art oder zu diesem Thema mehr.",
        sender="Absender",
        kind="Art der E-Mails",
        thread="Thema",
        address="Gesendet an",
        unsubscribe="Abmelden",
        others="Andere E-Mails erhalten Sie weiterhin.",
        done_title="Sie sind abgemeldet",
        done_kind="Diese E-Mails erhalten Sie nicht mehr:",
        done_thread="Zu diesem Thema erhalten Sie keine E-Mails mehr, außer jemand erwähnt Sie:",
        done_title_any="Erledigt",
        done_any="Wenn dieser Link von uns ist, kommen solche E-Mails nicht mehr. Sie können diese Seite schließen.",
        on_its_way="Eine E-Mail, die schon unterwegs ist, kann noch ankommen.",
        mistake="War das ein Versehen?",
        undo="Rückgängig machen",
        undone_title="Sie sind wieder angemeldet",
        undone_kind="Diese E-Mails erhalten Sie wieder:",
        undone_thread="Zu diesem Thema erhalten Sie wieder E-Mails:",
        undone_any="Wenn dieser Link von uns ist, kommen solche E-Mails wieder. Sie können diese Seite schließen.",
        still_stopped="E-Mails an diese Adresse sind auch aus einem anderen Grund gestoppt, und dabei bleibt es. "
        "Der Absender weiß mehr.",
        preferences="Auswählen, was Sie erhalten",
        trouble_title="Bitte versuchen Sie es erneut",
        trouble="Das lässt sich gerade nicht speichern; es hat sich nichts geändert. "
        "Bitte versuchen Sie es in einer Minute erneut.",
        retry="Erneut versuchen",
    ),
    "fr": UnsubscribeWords(
        ask_title="Vous désabonner\u202f?",
        ask_kind="Vous ne recevrez plus ces e-mails\u00a0:",
        ask_thread="Vous ne recevrez plus d’e-mails sur ce fil de discussion, sauf si quelqu’un vous mentionne\u00a0:",
        ask_any="Vous ne recevrez plus d’e-mails de ce type ou sur ce fil de discussion.",
        sender="Expéditeur",
        kind="Type d’e-mail",
        thread="Fil de discussion",
        address="Envoyé à",
        unsubscribe="Me désabonner",
        others="Vous continuerez à recevoir les autres e-mails.",
        done_title="Désabonnement confirmé",
        done_kind="Vous ne recevez plus ces e-mails\u00a0:",
        done_thread="Vous ne recevez plus d’e-mails sur ce fil de discussion, sauf si quelqu’un vous mentionne\u00a0:",
        done_title_any="C’est fait",
        done_any="Si ce lien vient bien de nous, ces e-mails s’arrêtent. Vous pouvez fermer cette page.",
        on_its_way="Un e-mail déjà en route peut encore vous parvenir.",
        mistake="C’était une erreur\u202f?",
        undo="Annuler le désabonnement",
        undone_title="Vous êtes de nouveau inscrit(e)",
        undone_kind="Vous recevrez de nouveau ces e-mails\u00a0:",
        undone_thread="Vous recevrez de nouveau les e-mails sur ce fil de discussion\u00a0:",
        undone_any="Si ce lien vient bien de nous, ces e-mails vous parviendront de nouveau. Vous pouvez fermer cette page.",
        still_stopped="Les e-mails à cette adresse sont aussi bloqués pour une autre raison et le restent. "
        "L’expéditeur peut vous renseigner.",
        preferences="Choisir ce que vous recevez",
        trouble_title="Veuillez réessayer",
        trouble="L’enregistrement est impossible pour le moment\u202f; rien n’a changé. Veuillez réessayer dans une minute.",
        retry="Réessayer",
    ),
    "es": UnsubscribeWords(
        ask_title="¿Cancelar la suscripción?",
        ask_kind="Dejará de recibir estos correos:",
        ask_thread="Dejará de recibir correos sobre esta conversación, salvo que alguien le mencione:",
        ask_any="Dejará de recibir correos de este tipo o sobre esta conversación.",
        sender="Remitente",
        kind="Tipo de correo",
        thread="Conversación",
        address="Enviado a",
        unsubscribe="Cancelar la suscripción",
        others="Seguirá recibiendo los demás correos.",
        done_title="Suscripción cancelada",
        done_kind="Ya no recibe estos correos:",
        done_thread="Ya no recibe correos sobre esta conversación, salvo que alguien le mencione:",
        done_title_any="Listo",
        done_any="Si este enlace es nuestro, esos correos dejarán de llegar. Puede cerrar esta página.",
        on_its_way="Es posible que aún llegue algún correo que ya estaba en camino.",
        mistake="¿Ha sido un error?",
        undo="Deshacer",
        undone_title="Suscripción recuperada",
        undone_kind="Volverá a recibir estos correos:",
        undone_thread="Volverá a recibir correos sobre esta conversación:",
        undone_any="Si este enlace es nuestro, esos correos volverán a llegar. Puede cerrar esta página.",
        still_stopped="Los correos a esta dirección están detenidos también por otro motivo y seguirán así. "
        "El remitente puede informarle.",
        preferences="Elegir qué quiere recibir",
        trouble_title="Inténtelo de nuevo",
        trouble="Ahora mismo no se puede guardar y no ha cambiado nada. Inténtelo de nuevo dentro de un minuto.",
        retry="Intentar de nuevo",
    ),
}
