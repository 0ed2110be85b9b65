"""The words of the preferences page, in every language that is shipped. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PreferencesWords:
    title: str
    lead: str  # with {sender}
    saved: str
    wrong: str
    channels: str
    channels_hint: str
    email: str
    sms: str
    push: str
    in_app: str
    no_email: str
    no_phone: str
    no_device: str
    suppressed: str
    cap: str
    no_cap: str
    types: str
    types_hint: str
    locked: str
    quiet: str
    quiet_hint: str
    quiet_mixed: str
    start: str
    end: str
    zone: str
    zone_hint: str
    save: str
    bad_time: str
    no_start: str
    no_end: str
    same: str
    bad_zone: str
    bad_cap: str
    unknown_title: str
    unknown: str
    trouble_title: str
    trouble: str
    unreadable: str
    too_often: str
    retry: str


WORDS = {
    "en": PreferencesWords(
        title="Notification settings",
        lead="Choose what {sender} sends you, and how.",
        saved="Your settings are saved.",
        wrong="Nothing is saved yet. Please check:",
        channels="Channels",
        channels_hint="A channel that is off brings you nothing, except what you switch on for it below.",
        email="Email",
        sms="SMS",
        push="Push",
        in_app="In the app",
        no_email="No email address is known.",
        no_phone="No phone number is known.",
        no_device="No device is registered.",
        suppressed="Messages to this address are stopped: they could not be delivered, or were refused.",
        cap="At most per day",
        no_cap="no limit",
        types="Kinds of notifications",
        types_hint="What is ticked reaches you that way.",
        locked="Always on: too important to miss.",
        quiet="Quiet hours",
        quiet_hint="Emails, SMS and push messages wait until the end of your quiet hours. Urgent ones arrive at once. "
        "Leave both times empty to have none.",
        quiet_mixed="Your channels have different quiet hours at present. New times here replace all of them.",
        start="From",
        end="To",
        zone="Time zone",
        zone_hint="Also decides when a day begins for “at most per day”.",
        save="Save",
        bad_time="Enter a time, such as 22:00.",
        no_start="Also enter when the quiet hours begin.",
        no_end="Also enter when the quiet hours end.",
        same="The end must differ from the beginning. To get nothing at all, switch the channel off.",
        bad_zone="Choose a time zone from the list.",
        bad_cap="Enter a whole number from 0 to 10000, or leave it empty.",
        unknown_title="This link does not work any more",
        unknown="Please use the link in a more recent email, or ask whoever sent it to you.",
        trouble_title="Please try again",
        trouble="Your settings cannot be reached just now, and nothing has changed. Please try again in a minute.",
        unreadable="What was sent could not be read, and nothing has changed. Please open the page again.",
        too_often="That was a lot in a short time, and nothing has changed. Please try again in a minute.",
        retry="Open the page again",
    ),
    "de": PreferencesWords(
        title="Benachrichtigungen einstellen",
        lead="Wählen Sie, was {sender} Ihnen schickt und auf welchem Weg.",
        saved="Ihre Einstellungen sind gespeichert.",
        wrong="Noch ist nichts gespeichert. Bitte prüfen Sie:",
        channels="Kanäle",
        channels_hint="Auf einem ausgeschalteten Kanal kommt nichts an, außer was Sie unten eigens dafür einschalten.",
        email="E-Mail",
        sms="SMS",
        push="Push",
        in_app="In der App",
        no_email="Es ist keine E-Mail-Adresse bekannt.",
        no_phone="Es ist keine Telefonnummer bekannt.",
        no_device="Es ist kein Gerät angemeldet.",
        suppressed="Nachrichten an diese Adresse sind gestoppt: Sie waren nicht zustellbar oder wurden abgelehnt.",
        cap="Höchstens pro Tag",
        no_cap="unbegrenzt",
        types="Arten von Benachrichtigungen",
        types_hint="Was angekreuzt ist, erreicht Sie auf diesem Weg.",
        locked="Immer an: zu wichtig, um es zu verpassen.",
        quiet="Ruhezeit",
        quiet_hint="E-Mails, SMS und Push-Nachrichten warten bis zum Ende Ihrer Ruhezeit. Dringendes kommt sofort. "
        "Lassen Sie beide Zeiten leer, wenn Sie keine möchten.",
        quiet_mixed="Für Ihre Kanäle gelten derzeit verschiedene Ruhezeiten. Neue Zeiten hier ersetzen sie alle.",
        start="Von",
        end="Bis",
        zone="Zeitzone",
        zone_hint="Danach richtet sich auch, wann für „Höchstens pro Tag“ ein Tag beginnt.",
        save="Speichern",
        bad_time="Geben Sie eine Uhrzeit an, zum Beispiel 22:00.",
        no_start="Geben Sie auch an, wann die Ruhezeit beginnt.",
        no_end="Geben Sie auch an, wann die Ruhezeit endet.",
        same="Ende und Beginn müssen sich unterscheiden. Wenn Sie gar nichts möchten, schalten Sie den Kanal aus.",
        bad_zone="Wählen Sie eine Zeitzone aus der Liste.",
        bad_cap="Geben Sie eine ganze Zahl von 0 bis 10000 an, oder lassen Sie das Feld leer.",
        unknown_title="Dieser Link funktioniert nicht mehr",
        unknown="Bitte nutzen Sie den Link aus einer neueren E-Mail, oder fragen Sie den Absender.",
        trouble_title="Bitte versuchen Sie es erneut",
        trouble="Ihre Einstellungen sind gerade nicht erreichbar; es hat sich nichts geändert. "
        "Bitte versuchen Sie es in einer Minute erneut.",
        unreadable="Die Angaben waren nicht lesbar; es hat sich nichts geändert. Bitte öffnen Sie die Seite erneut.",
        too_often="Das war viel in kurzer Zeit; es hat sich nichts geändert. Bitte versuchen Sie es in einer Minute erneut.",
        retry="Seite erneut öffnen",
    ),
    "fr": PreferencesWords(
        title="Réglages des notifications",
        lead="Choisissez ce que {sender} vous envoie, et par quel moyen.",
        saved="Vos réglages sont enregistrés.",
        wrong="Rien n’est encore enregistré. Veuillez vérifier\u00a0:",
        channels="Canaux",
        channels_hint="Un canal désactivé ne vous transmet rien, sauf ce que vous activez pour lui ci-dessous.",
        email="E-mail",
        sms="SMS",
        push="Push",
        in_app="Dans l’application",
        no_email="Aucune adresse e-mail n’est connue.",
        no_phone="Aucun numéro de téléphone n’est connu.",
        no_device="Aucun appareil n’est enregistré.",
        suppressed="Les messages à cette adresse sont bloqués\u00a0: ils n’ont pas pu être remis ou ont été refusés.",
        cap="Maximum par jour",
        no_cap="sans limite",
        types="Types de notifications",
        types_hint="Ce qui est coché vous parvient par ce moyen.",
        locked="Toujours activé\u00a0: trop important pour être manqué.",
        quiet="Heures calmes",
        quiet_hint="Les e-mails, SMS et notifications push attendent la fin de vos heures calmes. Les messages urgents "
        "arrivent aussitôt. Laissez les deux heures vides pour n’en avoir aucune.",
        quiet_mixed="Vos canaux ont actuellement des heures calmes différentes. De nouvelles heures ici les remplacent toutes.",
        start="De",
        end="À",
        zone="Fuseau horaire",
        zone_hint="Il détermine aussi le début de la journée pour le «\u00a0maximum par jour\u00a0».",
        save="Enregistrer",
        bad_time="Indiquez une heure, par exemple 22:00.",
        no_start="Indiquez aussi le début des heures calmes.",
        no_end="Indiquez aussi la fin des heures calmes.",
        same="La fin doit être différente du début. Pour ne rien recevoir du tout, désactivez le canal.",
        bad_zone="Choisissez un fuseau horaire dans la liste.",
        bad_cap="Indiquez un nombre entier de 0 à 10000, ou laissez le champ vide.",
        unknown_title="Ce lien ne fonctionne plus",
        unknown="Veuillez utiliser le lien d’un e-mail plus récent, ou vous adresser à son expéditeur.",
        trouble_title="Veuillez réessayer",
        trouble="Vos réglages sont inaccessibles pour le moment\u202f; rien n’a changé. Veuillez réessayer dans une minute.",
        unreadable="Les données envoyées étaient illisibles\u202f; rien n’a changé. Veuillez rouvrir la page.",
        too_often="Cela fait beaucoup en peu de temps\u202f; rien n’a changé. Veuillez réessayer dans une minute.",
        retry="Rouvrir la page",
    ),
    "es": PreferencesWords(
        title="Ajustes de notificaciones",
        lead="Elija qué le envía {sender} y por qué medio.",
        saved="Sus ajustes se han guardado.",
        wrong="Todavía no se ha guardado nada. Revise lo siguiente:",
        channels="Canales",
        channels_hint="Por un canal desactivado no llega nada, salvo lo que active para él más abajo.",
        email="Correo",
        sms="SMS",
        push="Push",
        in_app="En la aplicación",
        no_email="No consta ninguna dirección de correo.",
        no_phone="No consta ningún número de teléfono.",
        no_device="No hay ningún dispositivo registrado.",
        suppressed="Los mensajes a esta dirección están detenidos: no se pudieron entregar o fueron rechazados.",
        cap="Máximo al día",
        no_cap="sin límite",
        types="Tipos de notificaciones",
        types_hint="Lo que está marcado le llega por ese medio.",
        locked="Siempre activado: demasiado importante para perdérselo.",
        quiet="Horas de silencio",
        quiet_hint="Los correos, los SMS y las notificaciones push esperan al final de sus horas de silencio. Lo urgente llega "
        "al momento. Deje ambas horas vacías si no quiere ninguna.",
        quiet_mixed="Ahora sus canales tienen horas de silencio distintas. Las que indique aquí las sustituyen todas.",
        start="Desde",
        end="Hasta",
        zone="Zona horaria",
        zone_hint="También decide cuándo empieza el día para el «máximo al día».",
        save="Guardar",
        bad_time="Indique una hora, por ejemplo 22:00.",
        no_start="Indique también cuándo empiezan las horas de silencio.",
        no_end="Indique también cuándo terminan las horas de silencio.",
        same="El final debe ser distinto del comienzo. Si no quiere recibir nada, desactive el canal.",
        bad_zone="Elija una zona horaria de la lista.",
        bad_cap="Indique un número entero de 0 a 10000 o deje el campo vacío.",
        unknown_title="Este enlace ya no funciona",
        unknown="Use el enlace de un correo más reciente o pregunte a quien se lo envió.",
        trouble_title="Inténtelo de nuevo",
        trouble="Ahora mismo no se puede acceder a sus ajustes y no ha cambiado nada. Inténtelo de nuevo dentro de un minuto.",
        unreadable="No se pudo leer lo que se envió y no ha cambiado nada. Abra la página de nuevo.",
        too_often="Ha sido mucho en poco tiempo y no ha cambiado nada. Inténtelo de nuevo dentro de un minuto.",
        retry="Abrir la página de nuevo",
    ),
}
