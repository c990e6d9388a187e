### Deutsch, in der Du-Form.

language-name = Deutsch
language-in-english = German

## Times

day-and-time = { $weekday ->
    [1] Montag
    [2] Dienstag
    [3] Mittwoch
    [4] Donnerstag
    [5] Freitag
    [6] Samstag
   *[7] Sonntag
}, { $day }. { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
} { $year }, { $time }
span-seconds = { $count ->
    [one] 1 Sekunde
   *[other] { $count } Sekunden
}
span-minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
}
span-hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
}
span-days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
}

today = heute
tomorrow = morgen
yesterday = gestern
weekday = { $weekday ->
    [1] Montag
    [2] Dienstag
    [3] Mittwoch
    [4] Donnerstag
    [5] Freitag
    [6] Samstag
   *[7] Sonntag
}
near-time = { $day } { $time }
far-time = { $day }, { $time }
short-day = { $weekday ->
    [1] Mo.
    [2] Di.
    [3] Mi.
    [4] Do.
    [5] Fr.
    [6] Sa.
   *[7] So.
} { $day }. { $month ->
    [1] Jan.
    [2] Feb.
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] Aug.
    [9] Sept.
    [10] Okt.
    [11] Nov.
   *[12] Dez.
}
day-of-year = { $day } { $year }

## Numbers

digit-separator = .
decimal-sign = ,

## Strangers, and people who come in

bot-description = Ein privater Assistent: Er antwortet, merkt sich Dinge und erinnert. Wenn du einen Code bekommen hast, tippe auf Starten und schick ihn so: /start CODE
stranger = Das ist ein privater Assistent. Wenn du einen Code bekommen hast, schick ihn so: /start CODE
code-refused = Dieser Code gilt nicht. Vielleicht ist er schon benutzt oder zu alt; bitte um einen neuen.
code-too-many = Zu viele falsche Codes für heute. Versuch es bitte morgen wieder.
welcome = Willkommen, { $name }. Du hast jetzt Zugang als { $role ->
    [owner] Besitzer
   *[member] Mitglied
}. Ich bin { $agent }: Schreib mir einfach. /help zeigt, was es sonst noch gibt.
greeting = Du hast Zugang, { $name }. Ich bin { $agent }: Schreib mir einfach. /help zeigt, was es sonst noch gibt.
role-raised = Du bist jetzt { $role ->
    [owner] Besitzer
   *[member] Mitglied
}.
join-as-less = Dieser Code gehört jemandem, der kein Besitzer ist. Ich habe ihn nicht benutzt: Alles, was du mir je gesagt hast, würde sonst dieser Person gehören.
join-in-configuration = Diese Adresse steht in der Konfiguration. Um sie einer anderen Person zu geben, verschiebe sie dort.
join-later = Ich beantworte hier noch etwas. Schick den Code noch einmal, wenn ich fertig bin.
join-means = Dieser Code verbindet dich mit { $name }: Alles, was du mir hier sagst, gehört dann { $name } und kann dort gelesen werden, auch das Bisherige, wenn dies deine einzige Adresse ist. Von da an hast du Zugang als { $name }. Wenn du { $name } bist, schick den Code noch einmal. Wenn dich jemand gebeten hat, ihn einzugeben, tu es nicht.
joined = Ab jetzt bist du auch hier { $name }, mit einem einzigen Gespräch, egal von wo du schreibst.

## Messages that cannot be taken, and groups

unsupported = { $kind ->
    [contact] Einen Kontakt
    [place] Einen Ort
    [location] Einen Standort
    [poll] Eine Umfrage
    [dice] Einen Würfel
    [game] Ein Spiel
    [invoice] Eine Rechnung
    [story] Eine Story
    [checklist] Eine Checkliste
    [paid-media] Bezahlte Medien
    [giveaway] Ein Gewinnspiel
    [gift] Ein Geschenk
    [passport] Einen Ausweis
    [sticker] Einen Sticker
    [photo] Dieses Foto
    [payment] Eine Zahlung
    [missing-file] Eine Datei, die nicht mit ihrer Nachricht ankam,
   *[unknown] Etwas, das Bots nicht sehen können,
} kann ich noch nicht annehmen. Schick es bitte als Text, Foto, Sprachnachricht oder Datei.
message-too-long = Deine Nachricht hat { $characters } Zeichen, und ich kann höchstens { $most } auf einmal lesen. Sie ist gespeichert, aber nicht beantwortet; schick sie bitte in Teilen oder als Datei.
queue-full = Von dir warten schon sehr viele Nachrichten. Diese habe ich nicht beantwortet; warte bitte, bis ich die anderen geschafft habe.
group-begins-anew = Mit der nächsten Nachricht hier beginnt ein neues Gespräch.
group-owner-forgets = Nur ein Besitzer kann hier die Nachrichten aller löschen. Ohne das Wort `messages` vergesse ich, was für diese Gruppe gemerkt ist; deine eigenen Nachrichten kannst du in der Gruppe selbst löschen.
group-answered-in-private = Das habe ich in unserem direkten Chat beantwortet.
group-write-first = Das beantworte ich nur im direkten Chat. Schreib mir dort zuerst.
group-only-here = Was du gerade in einer Gruppe geschrieben hast, gilt nur hier, in unserem direkten Chat. Sag es hier, wenn du es so gemeint hast.

## Deliveries

delivery-given-up = Einige meiner Nachrichten ließen sich hier mehr als eine Woche lang nicht zustellen, darum habe ich es aufgegeben. Meine Antworten sind gespeichert: Frag mich nach denen, die dir fehlen.
delivery-set-aside = Eine Nachricht von mir ließ sich hier nicht zustellen, andere schon. Ich habe sie zurückgestellt, damit es mit den übrigen weitergeht; /resend versucht es noch einmal.
delivery-set-aside-in-group = Eine Nachricht von mir ließ sich hier nicht zustellen, andere schon. Ich habe sie zurückgestellt, damit es mit den übrigen weitergeht; ein Besitzer kann sie mit /resend noch einmal schicken.

## Questions before something leaves

may-i = Darf ich diese { $count } Dinge tun?
may-i-agree = Schick innerhalb von { $minutes } Minuten /yes { $question }, wenn du einverstanden bist; alles andere heißt nein.
may-i-agree-to-all = Schick innerhalb von { $minutes } Minuten /yes { $question }, wenn du mit allen einverstanden bist; alles andere heißt nein.
may-i-agree-own = Antworte innerhalb eines Tages mit Ja, oder schick /yes { $question }, wenn du einverstanden bist.
may-i-agree-to-all-own = Antworte innerhalb eines Tages mit Ja, oder schick /yes { $question }, wenn du mit allen einverstanden bist.
may-last = /yes { $question } 10 gilt für zehn solche Aufrufe, /yes { $question } new für alle bis /new: nur von diesem Werkzeug, mit genau diesen Angaben, und nicht mehr, sobald etwas anderes von außen hereinkommt. /trust off nimmt es zurück.
may-last-varying = Mit vary dahinter (/yes { $question } 10 vary, /yes { $question } new vary) gilt für diese Aufrufe: { $differ }, und sonst nichts, als Text ohne Adressen, Pfade und Nummern, an die etwas gehen könnte.
may-differ = { $names } darf anders sein
may-i-open = Diese Adresse bei `{ $host }` öffnen, und keine andere? Hier hat sie niemand eingegeben.
may-i-open-it = Diese Adresse öffnen?
may-i-send = Das an das Werkzeug { $tool } von { $server } schicken?
may-i-use = { $tool } damit benutzen?
may-i-remind = Soll ich dich { $when } an { $words } erinnern?
may-i-schedule = Soll ich { $when } von selbst { $words } erledigen?
may-i-cancel = { $kind ->
    [task] Die Aufgabe
   *[reminder] Die Erinnerung
} "{ $words }" { $when } streichen?
may-i-cancel-this = { $kind ->
    [task] Diese Aufgabe
   *[reminder] Diese Erinnerung
} { $when } streichen?
which-yes = Tippe unter der Frage, die du meinst, auf *Ja*, oder sende { $commands }.
may-i-take-away = Soll ich `{ $path }` ändern? Zeilen von dir verschwinden (−).
may-i-change = { $kind ->
    [task] Die Aufgabe
   *[reminder] Die Erinnerung
} "{ $words }" { $when } so ändern, dass sie { $then } kommt?
may-i-change-this = { $kind ->
    [task] Die Aufgabe
   *[reminder] Die Erinnerung
} { $when } in dies hier ändern, so dass sie { $then } kommt?
may-i-close = Den offenen Punkt "{ $words }" schließen?
may-i-close-this = Diesen offenen Punkt schließen?
may-i-tick = "{ $words }" in deiner HEARTBEAT.md abhaken?
may-i-tick-this = Diesen Punkt in deiner HEARTBEAT.md abhaken?
question-this = dies hier
question-on-day = am { $when }
question-of-day = vom { $when }
question-that-comes = (kommt { $when })
question-again = { $recurrence } (als Nächstes { $next })
question-again-until = { $recurrence } bis { $until } (als Nächstes { $next })
recurs-as = immer wieder nach dem Zeitplan `{ $cron }`
recurs-hourly = jede Stunde in Minute { $minute }
recurs-daily = jeden Tag um { $times }
recurs-on-workdays = Montag bis Freitag um { $times }
recurs-weekly = jeden { $days } um { $times }
recurs-monthly = am { $day }. jedes Monats um { $times }
question-words-now = jetzt
question-words-then = dann
question-unnamed = { $skills ->
    [one] Der geladene Skill ({ $loaded }) nennt { $names } nicht.
   *[other] Keiner der geladenen Skills ({ $loaded }) nennt { $names }.
}
question-or = oder
reason-destination = Ein Ja gilt für dieses Ziel bis /new.
reason-outside = Ich frage, weil ich Text von außen gelesen habe ({ $sources }).
reason-skill = Ich frage, weil ich einen Skill von jemand anderem benutze.
reason-sent = Ich frage, weil ich gelesen habe, was du geschickt hast.
way-out-new = /new beginnt ohne diesen Text.
way-out-trust = /new beginnt ohne diesen Text, und mit /trust kannst du für das bürgen, was du geschickt hast.
used-under-yes = Ich habe { $tool } { $calls ->
    [one] mit deinem Ja
   *[other] { $calls }-mal mit deinem Ja
} benutzt; { $left }.
used-until-new = das gilt bis /new
used-asks-again = ab jetzt frage ich wieder
used-left = noch { $left }-mal ohne Frage
source = { $kind ->
    [web] Text aus dem Web, { $detail }
    [file] Inhalt einer Datei
    [forward] weitergeleiteter Text von jemand anderem
    [quote] ein Zitat von jemand anderem
    [preview] die Vorschau einer Webseite
    [contact] eine Kontaktkarte
    [poll] eine Umfrage
    [location] ein Ort auf der Karte
    [restored] eine Datei, die nach einer Wiederherstellung gefunden wurde
    [via_bot] Worte, die ein anderer Bot geschrieben hat
    [stdin] Text aus der Standardeingabe
    [pasted] eingefügter Text
    [tool] Ausgabe des fremden Werkzeugs { $detail }
    [guest] Worte von Gast { $detail }
    [stranger] der Name, den sich jemand Fremdes gegeben hat
    [import] von anderswo Mitgebrachtes
    [folder] eine Datei im Ordner der Skills
   *[unknown] Text unbekannter Herkunft
}
# Lower case, without punctuation, separated by commas: what a person types for yes.
typed-yes = ja, ja bitte, ja gerne, ja gern, ja mach das, ja mach, j, jo, jep, jup, klar, ok, okay, gerne, bitte, mach das
button-yes = Ja
button-yes-ten = Ja, 10-mal genau so
button-yes-until-new = Ja, so bis /new
button-yes-ten-varying = 10×, { $names } frei
button-no = Nein

## Answers to questions

goes-on = Gut, das mache ich.
left-alone = Gut, das lasse ich.
question-over = Diese Frage ist vorbei, darum ist nichts geschehen. Frag mich noch einmal, wenn es noch wichtig ist.
yes-already = Dazu hast du schon ja gesagt. Das hat gezählt; jetzt hat sich nichts geändert.
no-such-question = Eine Frage mit dieser Nummer habe ich dir nicht gestellt.

## What is kept

keep-this = **Soll ich mir das merken?** Ich wollte mir Folgendes merken, aber Worte von außen waren daran beteiligt ({ $sources }). Bis du ja sagst, lese ich es nur, wenn du mich darum bittest.
keep-this-file = **Soll das in `{ $path }` so bleiben?** Diese Zeilen stehen in der Datei, und Worte von außen waren daran beteiligt ({ $sources }). Bis du ja sagst, zählen sie als von außen.
keep-instead-of = Es ersetzt „{ $old }“.
keep-how = `/yes { $question }` macht genau diese Worte zu deinen: Sie zählen, als hättest du sie mir gesagt. `/no { $question }` lässt sie, wo sie sind. Zeit für die Antwort: { $time }.
keep-later-head = **Soll ich mir das merken?** Ich wollte mir noch mehr merken, aber Worte von außen waren daran beteiligt, und es ist zu lang, um es hier zu zeigen. Ich lese es nur, wenn du mich darum bittest:
keep-later = - `{ $path }`: `/promote { $name }` zeigt es
keep-waits = { $path } gehört noch nicht dir: Die Dateien des Gedächtnisses lassen sich gerade nicht schreiben. Sobald es geht, gehört es dir; du musst nichts tun. `compline doctor` sagt, was nicht stimmt.
keep-stuck = Ich konnte { $path } nicht zu deinem machen: Die Dateien des Gedächtnisses lassen sich gerade nicht schreiben. `compline doctor` sagt, was nicht stimmt; /memory zeigt, was da ist, und /promote versucht es noch einmal.
keep-changed = Nichts wurde gemerkt: Was jetzt dort steht, ist nicht, was dir gezeigt wurde. /memory listet auf, was von außen kam, und /promote zeigt es.
agent-memories = Was Agenten und Profile über dich gelernt haben. Was eingeschaltet ist, fällt von selbst ein; was ausgeschaltet ist, bleibt gespeichert, und deine Suche findet es.
agent-memories-none = Kein anderer Agent und kein anderes Profil hat etwas über dich gelernt.
agent-memory = { $state ->
    [own] - **{ $name }**, { $size }: in Gebrauch
    [on] - **{ $name }**, { $size }: eingeschaltet
   *[off] - **{ $name }**, { $size }: ausgeschaltet
}
agent-memory-how = `{ $command }` schaltet eines um.
agent-memory-unknown = Kein anderer Agent und kein anderes Profil heißt { $name }. `{ $list }` zeigt sie.
agent-memory-own = { $name } ist in Gebrauch, darum fällt immer ein, was dort gelernt wurde.
agent-memory-switched = { $on ->
    [yes] Was { $name } gelernt hat, fällt von jetzt an ein.
   *[no] Was { $name } gelernt hat, fällt nicht mehr ein. Es bleibt gespeichert, und deine Suche findet es.
}
promoted = Erledigt: { $path } gehört jetzt dir. { $then }
promoted-instead = Erledigt: { $path } gehört jetzt dir, anstelle von „{ $old }“. { $then }
memory-read = Ab der nächsten Nachricht weiß ich es.
memory-unread = Das Gedächtnis ist ausgeschaltet, darum lese ich es nur, wenn du mich darum bittest.
keep-left = Es bleibt, wo es ist, und ich lese es nur, wenn du mich darum bittest.
button-keep = Merken
button-leave = Lassen

## Settings

settings = - Sprache: { $language } (`/settings language CODE`: { $codes })
    - Zeitzone: { $zone }, dort ist es { $time } (`/settings timezone GEBIET/STADT`)

    `auto` anstelle eines Werts nimmt deine Wahl zurück.
settings-button = { $command ->
    [whoami] Mein Konto
    [link] Weiteres Gerät
    [usage] Verbrauch
   *[export] Meine Daten
}
language-chosen = Ab jetzt schreibe ich dir auf { $language }.
zone-chosen = Deine Zeitzone ist jetzt { $zone }; dort ist es { $time }.
no-such-language = Die Sprache { $word } kenne ich nicht. Ich kenne: { $known }.
no-such-zone = Die Zeitzone { $word } kenne ich nicht. Schreib sie als Gebiet/Stadt, wie Europe/Vienna.
no-such-zone-near = Die Zeitzone { $word } kenne ich nicht. Meinst du { $near }?

## Turns without an ordinary answer

answer-empty = (Dazu ist mir nichts eingefallen. Frag bitte noch einmal mit anderen Worten.)
answer-cut = _(Die Antwort hat die Längengrenze erreicht und endet hier. Schreib "weiter" für den Rest.)_
answer-only-thoughts = (Ich habe nachgedacht, bis die Grenze einer Antwort erreicht war, und nichts geschrieben. Frag bitte in kleineren Schritten; ein Besitzer kann `max_output` erhöhen.)
answer-broke-off = _(Die Antwort ist hier abgebrochen. Schreib "weiter" für den Rest.)_
answer-strange-address = _(Vorsicht: Eine Adresse mit [.] darin steht in nichts, was du oder eine Quelle geschrieben hat. Ich habe sie so geändert, dass man sie nicht antippen kann; öffne sie nur, wenn du sie kennst.)_
answer-late = _Das antwortet auf deine Nachricht ({ $said }, { $delay } her); sie musste bis jetzt warten._
answer-late-away = _Ich war nicht da, darum antwortet das auf deine Nachricht ({ $said }, { $delay } her)._
model-refused = Der Anbieter des Modells hat es abgelehnt, darauf zu antworten.
model-too-long = Das ist mehr, als das Modell auf einmal lesen kann. Schick bitte weniger, oder beginne mit /new ein neues Gespräch.
model-bad-key = Der Anbieter des Modells lehnt unseren Schlüssel ab.
model-no-credit = Das Konto beim Anbieter des Modells hat kein Guthaben mehr.
model-rejected = Der Server des Modells lehnt diese Anfrage ab, darum kann ich sie nicht beantworten. Ein Besitzer sieht den Grund mit /status.
model-rejected-because = Der Server des Modells lehnt diese Anfrage ab: `{ $why }`. Noch einmal zu fragen hilft erst, wenn das behoben ist; `compline doctor` prüft das Modell ganz.
model-slow = Der Server des Modells ist langsam: Er hat so lange geschwiegen, wie `patience` erlaubt. Ich warte jedes Mal länger.
model-unreachable = Das Modell ist gerade nicht erreichbar.
model-away = { $why } Deine Nachricht ist gespeichert, und ich antworte, sobald ich kann.
model-still-away = { $why } Keine Antworten seit { $since }. Wartende Nachrichten: { $waiting }. Ich antworte, sobald ich kann.
model-away-too-long = { $why } Ich habe es einen ganzen Tag lang versucht und dann aufgehört. Frag bitte noch einmal, wenn das behoben ist.
turn-cut-off = Ich wurde dabei mehrmals unterbrochen und habe aufgehört. Frag bitte noch einmal, vielleicht anders; die Einzelheiten stehen im Protokoll.
turn-too-long = Ich habe aufgehört, weil die Antwort länger als { $limit } gedauert hat. Frag bitte noch einmal, vielleicht nach weniger auf einmal.
files-unreadable = Ich kann { $names } nicht lesen und antworte darum ohne das, was dort steht. `/memory history NAME` zeigt frühere Fassungen und wie man eine zurückholt.
messages-too-old = { $count ->
    [one] Eine Nachricht von dir hat mehr als einen Tag gewartet. Ich habe sie nicht beantwortet; schick sie noch einmal, wenn sie noch wichtig ist.
   *[other] { $count } Nachrichten von dir haben mehr als einen Tag gewartet. Ich habe sie nicht beantwortet; schick noch einmal, was noch wichtig ist.
}
messages-too-old-away = { $count ->
    [one] Eine Nachricht von dir hat mehr als einen Tag gewartet, während ich nicht da war. Ich habe sie nicht beantwortet; schick sie noch einmal, wenn sie noch wichtig ist.
   *[other] { $count } Nachrichten von dir haben mehr als einen Tag gewartet, während ich nicht da war. Ich habe sie nicht beantwortet; schick noch einmal, was noch wichtig ist.
}
was-away = Ich war nicht da ({ $absence }); ältere Nachrichten können fehlen. Schick bitte noch einmal, was ich nicht beantwortet habe.

## Budgets

budget = { $which ->
    [person] dein Anteil am heutigen Budget
    [group] der Anteil dieser Gruppe am heutigen Budget
    [background] das heutige Budget für Arbeit im Hintergrund
    [reserve] der Teil des heutigen Budgets, der nicht für die Besitzer reserviert ist,
   *[daily] das heutige Budget
}
over-budget = Ich habe nicht geantwortet, weil { $budget } aufgebraucht ist. Um Mitternacht beginnt es neu; ein Besitzer kann es in der Konfiguration erhöhen.
above-limit = Ich habe nicht geantwortet, weil eine einzige Antwort mehr brauchen kann, als `{ $setting }` unter [budget] für einen ganzen Tag erlaubt; Warten hilft nicht. Ein neues Gespräch (/new) braucht weniger, und ein Besitzer kann die Grenze in der Konfiguration erhöhen.
unheard-over-budget = Ich habe deine Sprachnachricht nicht angehört, weil { $budget } aufgebraucht ist. Um Mitternacht beginnt es neu; ein Besitzer kann es in der Konfiguration erhöhen.
unheard-above-limit = Ich habe deine Sprachnachricht nicht angehört, weil das Anhören mehr brauchen kann, als `{ $setting }` unter [budget] für einen ganzen Tag erlaubt; Warten hilft nicht. Eine kürzere braucht weniger, und ein Besitzer kann die Grenze in der Konfiguration erhöhen.

## Marks, files, and decisions in place of buttons

mark-repeated = (evtl. doppelt)
mark-closed = (nicht mehr offen)
mark-blank = (leer)
file-changed = (Die Datei { $name } wurde inzwischen gelöscht oder geändert, darum habe ich sie nicht geschickt.)
file-not-taken = (Die Datei { $name } lässt sich hier nicht schicken. Sie liegt im Arbeitsordner: { $path })
decision-allowed = Erlaubt
decision-not-allowed = Nicht erlaubt
decision-expired = Abgelaufen
question-unanswered = Du hast auf meine Frage nicht rechtzeitig geantwortet, also habe ich nichts davon getan. Sag es noch einmal, wenn du es noch möchtest.
decision-kept = Gemerkt
decision-not-kept = Nicht gemerkt
decision-approved = Angenommen
decision-rejected = Abgelehnt
decision-withdrawn = Zurückgezogen
decision-changed = Inzwischen geändert
decision-not-applied = Nicht angewendet
decision-let-in = Hereingelassen
decision-ignored = Ignoriert
room-nearly-full = Deine Dateien belegen { $used } und dürfen hier { $most } belegen. Bitte lösche, was du nicht mehr brauchst: Ist der Platz voll, kann ich keine neuen Dateien behalten.
room-full = Für diese Datei ist kein Platz, deshalb wurde sie nicht gespeichert: Deine Dateien belegen { $used } und dürfen hier { $most } belegen. Lösche, was du nicht mehr brauchst, und schicke sie noch einmal.
followed-by-hand = Was du in { $path } geschrieben hast, gilt jetzt überall, anstelle von „{ $old }“. `/memory history NAME` zeigt, was dort stand.
edit-merged = { $path } wurde in einem Editor gespeichert, in dem noch eine ältere Fassung offen war. Deine Änderung ist drin, und was inzwischen dazukam, steht wieder da: „{ $lines }“.
edit-merged-shorter = { $path } wurde in einem Editor gespeichert, in dem noch eine ältere Fassung offen war. Deine Änderung ist drin, und was inzwischen entfernt wurde, bleibt weg.
notes-unlisted = { $count ->
    [one] Die Notiz gibt es nicht mehr, darum habe ich ihre Zeile aus dem Verzeichnis genommen: „{ $lines }“.
   *[other] Die Notizen gibt es nicht mehr, darum habe ich ihre Zeilen aus dem Verzeichnis genommen: „{ $lines }“.
}

## Reminders

reminder = **Erinnerung:** { $words }
reminder-from-outside = Eine Erinnerung, mit der du einverstanden warst; ich hatte davor gelesen: { $sources }.
reminder-late = Schon früher fällig: { $due }; eher ging es nicht.
reminder-late-more = Schon früher fällig: { $due } und seither { $count ->
    [one] noch einmal
   *[other] noch { $count }-mal
}; eher ging es nicht.
reminder-late-many = Schon früher fällig: { $due } und seither noch mindestens { $count }-mal; eher ging es nicht.
button-done = Erledigt
button-later = +1 Std.
reminder-done = Erledigt.
reminder-done-until = Erledigt. Das nächste Mal: { $next }.
reminder-later = Ich erinnere dich noch einmal: { $when }.
reminder-later-already = Das ist schon noch einmal gestellt. /reminders zeigt die Zeit.
reminder-not-come = Nummer { $id } war noch nicht dran. Um die Zeit zu ändern, bitte mich in deinen eigenen Worten darum.
reminder-unknown = Eine Erinnerung oder Aufgabe { $id } gibt es nicht. Die Liste der Erinnerungen zeigt die Nummern.
reminder-cancelled = { $kind ->
    [task] Aufgabe
   *[reminder] Erinnerung
} { $id } ist gestrichen: { $words }{ $time }.
reminders-none = Es gibt keine Erinnerungen. Bitte mich, dich an etwas zu erinnern oder jeden Morgen etwas zu erledigen.
reminders-zone = Zeiten gelten für { $zone }.
reminders-how = /reminders cancel NUMMER streicht eine. /reminders later NUMMER stellt eine, die schon kam, in einer Stunde noch einmal.
reminder-kind = { $kind ->
    [task] Aufgabe
   *[reminder] Erinnerung
}
reminder-times = als Nächstes { $times } und so weiter
reminder-not-set = _(Ich habe keine Erinnerung an „{ $words }“ gesetzt. Sag es noch einmal, wenn du sie möchtest.)_
reminder-works = gerade in Arbeit
reminder-times-until = als Nächstes { $times }, bis { $until }
from-outside = von außen: { $sources }
task-failed = Aufgabe { $id } konnte ich nicht erledigen (fällig { $due }): { $why }. /reminders zeigt sie und wann sie das nächste Mal kommt.
task-failed-why = { $reason ->
    [refused] Der Server des Modells hat die Anfrage abgelehnt
    [model_away] Das Modell war nicht erreichbar
    [too_old] Das Modell war nicht erreichbar
    [too_slow] Es hat zu lange gedauert
    [cut_off] Ich wurde dabei mehrmals unterbrochen
    [stopped] Sie wurde angehalten
    [not_allowed] Der Zugang wurde entzogen
    [deleted] Die Nachricht wurde gelöscht
    [forgotten] Die Antwort wurde gelöscht
    [restored] Inzwischen wurde eine Sicherung wiederhergestellt
    [never_asked] Sie wurde nie begonnen
    [still_running] Der vorige Lauf war noch nicht zu Ende
    [nobody_to_tell] Für die Antwort gab es keine Adresse
   *[no_answer] Es kam keine Antwort
}

## Commands

help = Schreib mir einfach. Außerdem gibt es:
command-too-long = Das ist zu lang für einen Befehl, der { $most } Zeichen haben darf. Es wurde nichts getan.
command-too-slow = Das hat länger als { $limit } gedauert, deshalb habe ich aufgehört. Frag bitte nach weniger auf einmal.
command-unknown = Den Befehl /{ $name } kenne ich nicht. /help zeigt alle.
command-unknown-near = Den Befehl /{ $name } kenne ich nicht. Meinst du /{ $near }? /help zeigt alle.
command-usage = Schreib es bitte so: { $form }
command-owner-only = Das darf nur ein Besitzer.
command-direct-only = Das beantworte ich nur in unserem direkten Chat.
command-failed = Das hat nicht geklappt, und ich weiß nicht, warum. Die Einzelheiten stehen im Protokoll; nichts wurde geändert.
command-no-room = Das ging nicht: Es lässt sich nichts schreiben, weil die Platte voll oder eine Grenze erreicht ist. Schaff etwas Platz (`df -h` zeigt, wie viel da ist) und versuch es noch einmal.
command-quarantined = Dieser Befehl ist dreimal fehlgeschlagen, darum versuche ich ihn nicht mehr; die Einzelheiten stehen im Protokoll.
new-conversation = Erledigt. Mit deiner nächsten Nachricht beginnt ein neues Gespräch; was in diesem wichtig war, wird gerade aufgeschrieben.
stopped = Angehalten.
nothing-runs = Gerade läuft nichts.

answer-where-asked = Beantworte eine Frage in dem Chat, in dem sie gestellt wurde, mit ihrem Knopf oder ihrer Nummer.
nothing-found = Nichts gefunden.
resend-nothing = Nichts ist zurückgestellt.
resend-unknown = Unter dieser Nummer ist nichts zurückgestellt.
resent = { $count ->
    [one] Ich versuche es jetzt noch einmal.
   *[other] Ich versuche es jetzt bei { $count } Nachrichten noch einmal.
}

## The state and the account

status-unanswered = - warten auf Antwort: { $count ->
    [0] nichts
    [one] 1 Nachricht
   *[other] { $count } Nachrichten
}
status-undelivered = - warten auf Zustellung: { $count ->
    [0] nichts
    [one] 1 Nachricht
   *[other] { $count } Nachrichten
}
status-set-aside = - zurückgestellt, weil nicht zustellbar: { $numbers } ({ $resend } versucht es noch einmal)
status-works = funktioniert
status-trouble = { $why ->
   *[other] gestört; den Grund nennt der Befehl `compline doctor` auf dem Computer, auf dem ich laufe
}
status-chat-trouble = { $why ->
   *[other] Ein Chat ist gestört; den Grund nennt der Befehl `compline doctor` auf dem Computer, auf dem ich laufe
}
status-heard = letztes Zeichen ist { $heard } her
status-heard-message = letztes Zeichen ist { $heard } her, letzte Nachricht { $message }
status-tools = - Werkzeuge von { $server }: { $state }
status-tools-connected = verbunden seit { $since }
status-tools-absent = nicht verbunden
status-tools-begun-again = { $count ->
    [one] einmal neu gestartet
   *[other] { $count }-mal neu gestartet
}
status-tools-refused = { $count ->
    [one] eines davon ist nicht nutzbar (Bezeichnung oder Größe)
   *[other] { $count } davon sind nicht nutzbar (Bezeichnung oder Größe)
}
status-proposals = - Vorschläge, die auf dich warten: { $count }
status-upkeep = - Wartung: zuletzt { $at }, { $state ->
    [sound] das Journal ist unversehrt
   *[damaged] das Journal ist BESCHÄDIGT: Wo, sagt der Befehl `compline doctor` auf dem Computer, auf dem ich laufe
}
status-restored = - aus einer Sicherung wiederhergestellt ({ $at }): { $outbox ->
    [one] 1 wartende Nachricht wurde nicht gesendet
   *[other] { $outbox } wartende Nachrichten wurden nicht gesendet
} und { $messages ->
    [one] 1, die auf Antwort wartete, wurde geschlossen
   *[other] { $messages }, die auf Antwort warteten, wurden geschlossen
}
status-took-over = - von einem anderen Rechner übernommen ({ $at }): Antworten auf Früheres können sich wiederholen und sagen das dann
status-reflections = - nächste Rückblicke: { $times }
status-reflection = { $job ->
    [daily] täglich
    [weekly] wöchentlich
   *[monthly] monatlich
} { $at }
status-heartbeat = - regelmäßige Prüfung für { $person }: { $last }; { $next }
status-heartbeat-ran = zuletzt { $at }
status-heartbeat-new = noch nicht gelaufen
status-heartbeat-next = nächste { $at }, früher, wenn sich etwas ändert
status-heartbeat-idle = in HEARTBEAT.md ist nichts offen
status-meaning = - Suche nach Bedeutung: { $what }
vectors = { $model }, { $length }; { $kept } Texte haben einen, { $lacking }
vectors-unasked = noch nicht gefragt
vectors-length = { $count } Zahlen je Vektor
vectors-complete = keiner fehlt
vectors-lacking = { $count } fehlen
vectors-lacking-many = mehr als { $count } fehlen
vectors-away = { $what }. Seit { $since } wird nur nach Wörtern gesucht{ $why ->
   *[other] ; den Grund nennt der Befehl `compline doctor` auf dem Computer, auf dem ich laufe
}. Nächster Versuch: { $next }
status-talk = - { $person }: Gespräch { $conversation }, letzte Nachricht { $last }
status-no-talk = - { $person }: kein offenes Gespräch, letzte Nachricht { $last }
status-silent = - { $person }: noch nichts gesagt
status-model = - Modell: { $model }
status-model-away = - Modell: { $model }, keine Antwort seit { $since }: { $why }
status-refusal = - von seinem Server abgelehnt ({ $at }): { $why }
status-used-up = - { $budget } ist aufgebraucht; ich antworte wieder nach Mitternacht, oder sobald ein Besitzer es in der Konfiguration erhöht
status-left = - heute noch übrig: { $money }, und { $tokens } Token, wo kein Preis bekannt ist
status-read = Darin ist Fremdes: { $sources }. Bis /new frage ich, bevor ich etwas sende, notiere oder eine Erinnerung stelle; /trust zeigt mehr.
status-skill-without-names = { $name } (nennt kein Ziel)
status-skills = Geladene Skills: { $skills }. Bis /new frage ich, bevor etwas an ein anderes Ziel geht.
whoami = Du bist **{ $name }**, { $role ->
    [owner] Besitzer
   *[member] Mitglied
}.
whoami-reached = - erreichbar über: { $addresses }
whoami-unreached = - erreichbar über: nichts
whoami-conversation = - Gespräch: seit { $since }
whoami-no-conversation = - Gespräch: gerade keines; deine nächste Nachricht beginnt eines
whoami-memory = - Gedächtnis: deine eigenen Notizen und Gespräche, von sonst niemandem
usage-none = Noch wurde kein Modell benutzt.
usage-today = Heute
usage-days = Letzte { $days } Tage
usage-by-day = Nach Tagen
usage-by-person = Nach Personen
usage-by-conversation = Teuerste Gespräche
usage-cached = { $percent } % der Eingabe kamen aus dem Zwischenspeicher eines Anbieters.
usage-nothing = noch nichts
usage-nobody = keine Person
usage-total = zusammen
usage-tokens = { $tokens } Token
usage-money-and-tokens = { $money } und { $tokens } Token
usage-spent = { $amount } ({ $calls ->
    [one] 1 Aufruf
   *[other] { $calls } Aufrufe
})
usage-purpose = { $purpose ->
    [chat] Chat
    [summary] Zusammenfassung
    [extraction] Merken
    [transcription] Sprachnachricht
    [embedding] Suche nach Bedeutung
    [review] Prüfung
    [reflection] Rückblick
    [heartbeat] Regelmäßige Prüfung
    [task] Aufgabe
   *[other] { $purpose }
}

list-more = Mehr: { $command }
search-ends = Nur die besten { $depth } werden aufgelistet. Weitere Wörter, --in, --since oder --until finden die anderen.
list-earlier = Früher: { $command }
list-later = Später: { $command }

## Conversations

conversations-none = Gespräche dieser Art gibt es noch nicht.
conversation-unknown = Ein Gespräch { $id } gibt es nicht.
conversation = Gespräch { $id }
conversation-untitled = ohne Titel
conversation-task = Aufgabe { $number }
conversation-reflection = Rückblick auf { $period }
conversation-heartbeat = Regelmäßige Prüfung, { $at }
conversation-facts = { $person }, { $messages ->
    [one] 1 Nachricht
   *[other] { $messages } Nachrichten
}, { $ended }
conversation-facts-own = { $person } schrieb { $messages ->
    [one] 1 Nachricht
   *[other] { $messages } Nachrichten
}, { $ended }
conversation-open = noch offen
conversation-ended = beendet { $at }
summary-list = { $list ->
    [topics] Themen
    [decisions] Entscheidungen
    [preferences] Vorlieben
   *[pending] Offenes
}
message-edited = (später geändert in) { $words }
attached = { $kind ->
    [photo] Foto
    [voice] Sprachnachricht
   *[file] Datei
}
by-itself = { $from }, von selbst ({ $cause })
cause = { $kind ->
    [reminder] Erinnerung
    [task] Aufgabe
    [question] Frage
    [proposal] Vorschlag
    [heartbeat] regelmäßige Prüfung
    [reflection] Rückblick
   *[notice] Hinweis
}

## What came from outside, and what a person vouches for

trust-no-conversation = Gerade ist kein Gespräch offen, darum ist auch nichts von außen darin. Schreib etwas und frag dann noch einmal.
trust-nothing = In diesem Gespräch ist nichts von außen.
trust-head = In diesem Gespräch ist Text von außen, darum frage ich, bevor ich etwas sende, notiere oder eine Erinnerung stelle. `/new` beginnt ohne ihn.
trust-open = ohne Vertrauen
trust-vouched = du bürgst dafür
trust-foreign = weitergeleitet oder von anderen geschrieben: Es bleibt etwas von außen
trust-no-such-item = Unter dieser Nummer hast du in diesem Gespräch nichts geschickt. `/trust` zeigt, was du geschickt hast.
trust-wrong-code = Dieser Code gehört zu etwas anderem. `/trust NUMMER` zeigt, was du geschickt hast, mit seinem Code.
trust-not-yours = Das ist weitergeleitet oder von anderen geschrieben und bleibt darum etwas von außen. Sag mir in deinen eigenen Worten, was ich davon wissen soll.
trust-not-read-yet = Diese Datei habe ich noch nicht gelesen. Frag noch einmal, wenn ich geantwortet habe.
trust-cannot-show = Von dieser Datei kann ich dir weder Text noch Bild zeigen, darum bleibt sie etwas von außen.
trust-too-long = Das ist zu lang, um es hier ganz zu zeigen, und niemand soll für etwas bürgen, das er nicht gelesen hat.
button-trust = Hier vertrauen
trust-nothing-to-take-back = In diesem Gespräch hast du nichts Besonderes erlaubt.
trust-unnamed = eine Datei ohne Namen
trust-picture = das Bild oben
trust-others = Nicht von dir, und hier nie vertraut: { $sources }.
trust-file = Einige Zeilen von { $path } kamen von außen: `/promote { $path }` zeigt sie und macht sie zu deinen.
trust-how = `/trust NUMMER` zeigt noch einmal, was du geschickt hast, und lässt dich dafür bürgen.
trust-tool = Ohne Frage bis /new: { $name }. `/trust off` nimmt es zurück.
trust-tool-times = Ohne Frage: { $name }, noch { $count }-mal. `/trust off` nimmt es zurück.
trust-destination = Von keinem geladenen Skill genannt, aber bis /new erlaubt: { $name }. `/trust off` nimmt es zurück.
trust-shown = Das hast du geschickt ({ $at }): { $what }.
trust-how-to-vouch = Mit `/trust { $number } { $code }` zählt es in diesem Gespräch als deins: Dann darf ich daraus ohne Frage Erinnerungen stellen; eine Notiz braucht weiter dein Ja. Bevor etwas hinausgeht, frage ich trotzdem. `/trust off` nimmt es zurück.
trust-vouched-now = Ab jetzt zählt { $what } in diesem Gespräch als deins. Bevor etwas hinausgeht, frage ich trotzdem.
trust-taken-back = { $count ->
    [one] Zurückgenommen: Ab jetzt frage ich wieder.
   *[other] Alle { $count } sind zurückgenommen: Ab jetzt frage ich wieder.
}

## Sizes, and what a person's memory holds

size-bytes = { $count ->
    [one] 1 Byte
   *[other] { $count } Byte
}
gauge = { $size } von { $most } KB ({ $percent } %)
enumeration = { $first } und { $last }
instead-of = anstelle von „{ $old }“
memory-edit-where = Hier gibt es keinen Editor. In einem Terminal auf dem Computer, auf dem ich laufe, öffnet `compline memory edit [NOTE]` einen, ebenso `/memory edit [NOTE]` in `compline chat`. Alles, was Markdown-Dateien ändert, ist recht: Ich lese sie vor jeder Antwort neu.
memory-off = Das Gedächtnis ist ausgeschaltet (`[memory] enabled`): Ich merke mir nichts, und was schon da ist, lese ich nur, wenn du mich darum bittest. Die Dateien bleiben.
memory-reads-part = Vor jeder Antwort lese ich, was davon Platz hat: die neuesten Tatsachen und das Verzeichnis.
memory-reads-whole = Ich lese sie vor jeder Antwort.
memory-goes-on = Das ist nicht alles: { $command } zeigt den Rest.
memory-counted = { $count ->
    [one] 1 Datei
   *[other] { $count } Dateien
}, { $size }
memory-notes = **Notizen**: { $counted }
memory-no-notes = **Notizen**: noch keine. Sag mir, was ich mir merken soll, oder nimm /remember.
memory-more-notes = - und { $count } weitere: { $command }
memory-today = **Heute**: { $name }, { $gauge }
memory-nothing-today = **Heute**: noch nichts
memory-days = **Andere Tage**: { $counted }, zuletzt { $newest }; am vollsten { $fullest }, { $gauge }
memory-facts = **Aus Gesprächen notiert**:
memory-waiting = **Von außen**, nur auf Bitte gelesen: { $counted }. `{ $promote }` zeigt etwas davon und wie du es zu deinem machst.
memory-total = Zusammen: { $counted }. `{ $show }` zeigt eine, `{ $history }` ihre früheren Fassungen.
memory-from-outside = Diese Worte kamen von außen ({ $sources }). Ich lese sie nur, wenn du mich darum bittest.
memory-cut = Das ist länger, als hier Platz hat; das ist der Anfang. Die Datei selbst hat alles.
memory-no-such-note = Eine solche Notiz gibt es nicht. /memory zeigt alle.
memory-not-text = kein Text in UTF-8
memory-too-large = größer als 1 MB
memory-not-opened = lässt sich nicht öffnen oder führt aus dem Ordner hinaus
memory-index-unread = **MEMORY.md** lässt sich nicht lesen: { $why }. Sie wird nicht benutzt und nicht ergänzt, bis du sie von Hand in Ordnung bringst.
memory-unread-files = **Nicht gelesen und nicht durchsucht**, bis du sie von Hand in Ordnung bringst:
memory-too-large-to-show = Diese Datei ist größer als 1 MB, darum wird sie weder gelesen noch gezeigt.
memory-unreadable = Diese Datei lässt sich nicht als Text lesen.
memory-remembered = Das merke ich mir ({ $path }, { $gauge }){ $instead }.
memory-remembered-unread = In MEMORY.md steht das jetzt, aber in dieser Datei ist Text von außen, darum lese ich sie nur, wenn du mich darum bittest. `/promote MEMORY` zeigt sie und wie du sie zu deiner machst.
memory-remembered-as-note = Gemerkt als { $path } ({ $size }), mit einer Zeile in MEMORY.md{ $instead }.
memory-known = Das steht schon in { $path }.
memory-full = Nicht gemerkt: { $path } würde größer als { $room } KB. Kürze sie mit einem Editor (`compline memory edit`) und versuch es noch einmal.
memory-overfull = Nicht gemerkt: { $path } ist schon größer als die Grenze von { $room } KB. Kürze sie mit einem Editor (`compline memory edit`) und versuch es noch einmal.
memory-broken = Nichts wurde geändert: { $path } lässt sich nicht als Text lesen. Vielleicht ist etwas anderes darin, sie ist viel zu groß oder gehört einem anderen Benutzer. Bring sie von Hand in Ordnung oder verschieb sie und versuch es noch einmal; `compline doctor` prüft alle.
memory-not-kept = Nichts wurde geändert: { $why }.
memory-yours = { $path } gehört schon dir.
memory-how-to-promote = `{ $command }` macht diese Worte zu deinen: Dann lese ich sie wie alles, was du mir gesagt hast. Der Code gilt für genau diesen Text.
memory-too-long-to-promote = Das ist zu lang für einen Chat, und niemand soll annehmen, was er nicht gelesen hat. `{ $command }` zeigt alles.
memory-wrong-code = Dieser Code passt nicht zu dem, was jetzt dort steht, darum wurde nichts geändert. `{ $command }` zeigt den Text und seinen Code.
button-promote = Zu meinem machen
versions-head = **{ $path }**, Neuestes zuerst
version = Fassung { $id }
version-author = { $author ->
    [assistant] vom Assistenten
    [person] von dir, mit einem Befehl
    [hand] von dir, von Hand
    [found] nach einer Wiederherstellung gefunden
   *[program] vom Programm
}
version-cause = { $cause ->
    [first] erster Inhalt
    [received] empfangen
    [given] von einem fremden Werkzeug
    [remember] eine Notiz
    [save] die Notiz des Tages
    [section] ein Abschnitt
    [file] die ganze Datei
    [facts] Tatsachen aus einem Gespräch
    [learned] etwas Gelerntes
    [promote] zu deinem gemacht
    [import] ein Import
    [forget] vergessen
    [follow] deine Änderung einer anderen Datei
    [merge] mit deiner Änderung zusammengeführt
    [unlist] Zeilen von Notizen, die es nicht mehr gibt
    [page] auf der Seite
    [restore] eine frühere Fassung
   *[edit] eine Änderung
}
version-deleted = gelöscht
version-without-text = der Text ist nicht mehr gespeichert
version-present = steht jetzt da
comparison = **{ $path }**, von Fassung { $old } zu Fassung { $new }
comparison-same = Sie sind gleich.
versions-cut = Nur die neuesten { $count } Fassungen sind aufgeführt; die Texte der älteren sind nicht mehr gespeichert.
memory-took-lines = Ich habe das von dir aus { $path } herausgenommen: „{ $lines }“. `{ $restore }` holt es zurück.
versions-how = `{ $show }` zeigt eine und was sie ändert, `{ $restore }` holt sie zurück.
memory-restoring-changes = Beim Zurückholen ändert sich:
memory-is-there = Das steht jetzt da.
version-how = `{ $command }` holt sie zurück.
version-restored = Erledigt: { $path } ist wieder auf dem Stand von Fassung { $id }.
version-restored-outside = Die Worte gelten weiter als von außen.
version-made-way = Die alte Datei ließ sich nicht als Text lesen; sie liegt jetzt unter { $path }.
version-same = Nichts zu ändern: { $path } ist schon wie Fassung { $id }.
version-unknown = Diese Fassung gibt es nicht. `{ $command }` zeigt alle.
version-gone = Der Text von Fassung { $id } ist nicht mehr gespeichert und lässt sich darum nicht zurückholen.
memory-still-from-outside = Nichts wurde geändert: Der Text dieser Fassung kam von außen, und das darf in einer Datei, die ich immer lese, nicht stehen.

## Where something comes from

why-lost = Im Journal ist nicht mehr zu sehen, woher es kam.
why-from-outside = Text, den hier niemand eingegeben hat, war daran beteiligt. So kam er hinein:
why-nothing-from-outside = Nichts von außen war daran beteiligt.
why-no-fact = Eine Tatsache mit diesem Schlüssel kenne ich nicht.
why-no-answer = Ich habe dir noch nicht geantwortet.
why-vouched = Du hast für etwas gebürgt, das daran beteiligt war: { $sources }.
why-skill = Ein angenommener Skill von jemand anderem war daran beteiligt.
why-fact = „{ $fact }“ steht in { $path }.
why-note = Es geht um { $path }.
why-written = Bekannt seit { $at }, { $origin }.
why-changed = Seither { $count ->
    [one] einmal
   *[other] { $count }-mal
} geändert, zuletzt { $at } { $origin }.
why-conversation = { $opened } (`{ $command }`)
why-more-conversations = { $count } weitere
why-conversations = { $count ->
    [one] Es stammt aus diesem Gespräch: { $conversations }.
   *[other] Es stammt aus diesen Gesprächen: { $conversations }.
}
why-messages = { $count ->
    [0] deine Antwort auf eine Frage
    [one] deine Nachricht
   *[other] deine { $count } Nachrichten
}
why-history = was vorher im Gespräch gesagt wurde
why-read-conversations = { $count ->
    [one] Gespräch { $numbers }, zusammengefasst oder gelesen
   *[other] die Gespräche { $numbers }, zusammengefasst oder gelesen
}
why-files = die Dateien { $files }
why-tool-times = { $tool } ({ $count }-mal)
why-answer = Für meine letzte Antwort ({ $at }) hatte ich: { $held }.
why-tools = Benutzt habe ich die Werkzeuge { $tools }.
why-more-sources = { $count ->
    [one] 1 weitere Quelle war auch daran beteiligt.
   *[other] { $count } weitere Quellen waren auch daran beteiligt.
}
why-step = { $after ->
    [answer] Diese Antwort
    [message] Diese Nachricht
    [summary] Diese Zusammenfassung
    [file] Diese Datei
    [attachment] Diese Datei
    [skill] Dieser Skill
    [facts] Diese Liste von Tatsachen
   *[proposal] Das
} { $verb ->
    [given] galt
    [knew] kannte
    [read] las
   *[from] kam aus
}: { $thing }.
why-thing = { $step ->
    [message] eine Nachricht ({ $at })
    [summary] die Zusammenfassung eines früheren Gesprächs ({ $at })
    [file] eine Datei im Arbeitsordner, wie sie geschrieben wurde ({ $at })
    [attachment] eine Datei, die geschickt wurde ({ $at })
    [skill] ein Skill, wie er damals war ({ $at })
    [facts] die gefundenen Tatsachen ({ $at })
   *[answer] eine Antwort ({ $at })
}
why-earlier-answer = eine frühere ({ $at })
why-earlier-answers = frühere, zurück bis zu einer ({ $at }), mit { $count } weiteren dazwischen
why-proposal = Vorschlag { $id } ({ $at })
why-came-by-tool = Hier kam es herein: Der Assistent benutzte { $tool }, und zurück kam: { $source }.
why-came-by-tool-alone = Hier kam es herein: Der Assistent benutzte { $tool }.
why-came-somehow = Hier kam es herein, mit dem, was für diese Antwort gelesen wurde: { $source }.
why-came-somehow-alone = Hier kam es herein, mit dem, was für diese Antwort gelesen wurde.
why-came-with = Hier kam es herein, { $what ->
    [message] mit der Nachricht
   *[other] damit
}: { $source }{ $name }.
why-came-with-alone = Hier kam es herein, { $what ->
    [message] mit der Nachricht
   *[other] damit
}{ $name }.
why-name = („{ $name }“)

## What waits, and codes for another address

pending-nothing = Nichts wartet auf dich.
pending-question = - **Frage { $id }** { $question }
pending-keep = { $path } merken?
code-links-you = Dieser Code verbindet eine weitere Adresse mit dir, { $name }.
code-valid = Er gilt einmal, für { $time }.
code-open = - { $channel }: Öffne { $link }
code-send-in-chat = - { $channel }: Schick die Zeile unten an { $account } ({ $link })
code-send = - { $channel }: Schick die Zeile unten an { $account }
code-send-anywhere = Schick dem Assistenten diese Zeile:

## What is forgotten, and exported

count-notes = { $count ->
    [one] 1 Notiz
   *[other] { $count } Notizen
}
count-lines = { $count ->
    [one] 1 Zeile
   *[other] { $count } Zeilen
}
count-earlier-lines = { $count ->
    [one] 1 Zeile früherer Fassungen
   *[other] { $count } Zeilen früherer Fassungen
}
count-entries = { $count ->
    [one] 1 Eintrag
   *[other] { $count } Einträge
}
count-versions = { $count ->
    [one] 1 frühere Fassung
   *[other] { $count } frühere Fassungen
}
count-summaries = { $count ->
    [one] 1 Zusammenfassung
   *[other] { $count } Zusammenfassungen
}
count-summary-places = { $count ->
    [one] 1 Stelle in Zusammenfassungen
   *[other] { $count } Stellen in Zusammenfassungen
}
count-copies = { $count ->
    [one] 1 Kopie
   *[other] { $count } Kopien
}
count-planned-copies = { $count ->
    [one] 1 Kopie in früheren Anfragen, Aufrufen und im Index
   *[other] { $count } Kopien in früheren Anfragen, Aufrufen und im Index
}
count-messages = { $count ->
    [one] 1 Nachricht
   *[other] { $count } Nachrichten
}
count-archives = { $count ->
    [one] 1 Export-Archiv
   *[other] { $count } Export-Archive
}
count-deleted-archives = { $count ->
    [one] 1 Export-Archiv, weil darin eine Kopie von allem war
   *[other] { $count } Export-Archive, weil darin eine Kopie von allem war
}
count-reminders = { $count ->
    [one] 1 Erinnerung
   *[other] { $count } Erinnerungen
}
count-proposals = { $count ->
    [one] 1 Vorschlag
   *[other] { $count } Vorschläge
}
count-places = { $count ->
    [one] 1 Stelle
   *[other] { $count } Stellen
}
forget-proved = Eine Suche danach findet nichts mehr.
forget-proved-but-spared = Außer dem, was du ausgenommen hast, findet eine Suche danach nichts mehr.
forget-nothing-left = Davon ist nichts mehr da.
forget-backups = Ältere Sicherungen enthalten es noch, bis du sie löschst.
forget-replica = { $days ->
    [one] Die Kopie auf einem anderen Rechner enthält es noch bis zu einen Tag.
   *[other] Die Kopie auf einem anderen Rechner enthält es noch bis zu { $days } Tage.
}
forget-none-such = Eine Notiz oder Tatsache namens { $name } gibt es nicht, und keine Zeile des Gedächtnisses enthält diese Wörter. { $memory } zeigt, was da ist. `{ $forget }` löscht, was nur gesagt wurde.
forget-none-said = Eine Notiz oder Tatsache namens { $name } gibt es nicht, und keine Nachricht oder Datei hat diese Worte in einer Zeile.
forget-too-short = Eine Notiz oder Tatsache namens { $name } gibt es nicht, und das ist zu kurz, um danach zu suchen.
forget-none-in-group = Für diese Gruppe habe ich keine Notiz oder Tatsache namens { $name }. Um zu vergessen, was nur dich betrifft, nimm unseren direkten Chat.
forget-left-out = Was du ausgenommen hast, bleibt.
forget-left-out-items = Ausgenommen, also bleibt: { $items }.
forgotten = Vergessen.
forgotten-parts = Vergessen: { $parts }.
forget-in-messages = Noch da: { $messages }, in denen es gesagt wurde. Nachrichten bleiben, bis du sie löschst. `{ $command }` löscht auch die.
forget-paraphrases = Alle Worte davon stehen auch in einem anderen Satz ({ $places }): Eine Suche findet ihn, und ich weiß nicht, ob er dasselbe meint. `{ $command }`, mit Worten, die dort beieinander stehen, zeigt, wie viele Nachrichten sie haben, und löscht diese.
forget-unread = { $files } konnte ich nicht durchsuchen, darum weiß ich nicht, ob es dort steht.
forget-only-before = Es stand in keiner jetzigen Datei, nur in früheren Fassungen, die sich nun nicht mehr zurückholen lassen.
forget-in-reminders = Noch da: { $reminders }. `{ $command }` löscht auch die; { $list } zeigt sie.
forget-in-proposals = Noch da: { $proposals } für Skills, die der Besitzer behält oder ablehnt.
forget-in-files = Noch in { $files }: Was du selbst geschrieben hast, änderst nur du.
forget-in-received-files = Noch in { $files }: Eine Datei, die du geschickt oder bekommen hast, kannst nur du ändern oder löschen.
forget-in-assistant-files = Noch in { $files }, von mir geschrieben, aber nicht zu ändern: Ändere oder lösche es selbst.
forget-elsewhere = Inzwischen dazugekommen: { $places }. `{ $command }` macht weiter.
forget-unreadable = Das Vergessen Nummer { $id } ist nicht fertig: Das Journal ist dort beschädigt, und die Worte sind nicht lesbar. Vergiss es noch einmal mit den Worten selbst; `compline doctor` sagt einem Besitzer mehr.
button-delete = Alles löschen
plan-changed = Was dabei gelöscht würde, hat sich geändert, seit es gezeigt wurde.
plan-no-such-number = Diese Nummer gibt es im Plan nicht. Nichts wurde gelöscht.
plan-optional = Bleibt, wenn du nicht die Nummer nennst:
plan-headline = { $name } zu vergessen löscht: { $deletes }. Noch ist nichts gelöscht.
plan-deletes-nothing = von selbst nichts
plan-more = - und { $count } weitere dieser Art
plan-note = Notiz{ $title } ({ $path })
plan-line = { $path }, Zeile „{ $text }“
plan-earlier-line = Zeile „{ $text }“ in { $count ->
    [one] 1 früheren Fassung
   *[other] { $count } früheren Fassungen
} von { $path }
plan-in-versions = in { $count } Fassungen
plan-derived = { $what }, daraus entstanden
plan-line-of = eine Zeile in { $path }
plan-archive = Export-Archiv { $path } mit einer Kopie von allem
plan-message = { $whose ->
    [mine] meine Nachricht
    [yours] deine Nachricht
   *[somebody] Nachricht
} ({ $at }) „{ $text }“
plan-message-in-other-words = { $whose ->
    [mine] meine Nachricht
    [yours] deine Nachricht
   *[somebody] Nachricht
} ({ $at }), in anderen Worten
plan-message-of = { $whose ->
    [mine] meine Nachricht
   *[somebody] die Nachricht
} ({ $at })
plan-summary = was die Zusammenfassung eines Gesprächs ({ $at }) davon sagt
plan-reflection = was ein Rückblick ({ $at }) davon sagt
plan-reminder = Erinnerung { $id }, die dann gestrichen wird
plan-reminder-of = Erinnerung { $id }
plan-stays-by-hand = { $files } (von dir geschrieben, darum änderst nur du es)
plan-stays-by-assistant = { $files } (von mir geschrieben, aber nicht zu ändern: Ändere oder lösche es selbst)
plan-stays-received = { $files } (von dir geschickt oder bekommen, darum kannst nur du es ändern)
plan-stays-unread = { $files } (kann ich nicht durchsuchen)
plan-stays-in-messages = { $count ->
    [one] 1 Nachricht
   *[other] { $count } Nachrichten
} der Gruppe (nur der Besitzer löscht hier Nachrichten)
plan-stays-in-proposals = { $count ->
    [one] 1 Stelle
   *[other] { $count } Stellen
} in Vorschlägen für Skills (der Besitzer behält sie oder lehnt sie ab)
plan-stays-in-backups = ältere Sicherungen, bis du sie löschst
plan-stays-in-replica = die Kopie auf einem anderen Rechner, bis zu { $days ->
    [one] einen Tag
   *[other] { $days } Tage
}
plan-stays = Bleibt: { $places }.
plan-messages-stay = Was gesagt wurde, bleibt: `{ $command }` nimmt Nachrichten und Erinnerungen dazu.
plan-carry-out = `{ $command }` löscht das alles endgültig.
plan-carry-out-part = `{ $command }` löscht nur, was diese Nummern hat.
export-in-direct-chat = Alles, was über dich gespeichert ist, kommt als Datei in deinen direkten Chat.
export-no-address = Es gibt keinen Chat, in den ich eine Datei schicken könnte. Der Besitzer kann die Datei schreiben: compline export NAME FILE
export-too-large = Das ist größer als { $most } MiB, mehr, als ein Chat annimmt. Der Besitzer kann die Datei am Computer machen: compline export NAME FILE
export-attached = Hier ist alles, was über dich gespeichert ist ({ $kib } KiB). Nach einer Woche wird die Datei aus dem Arbeitsordner gelöscht.
export-title = Gespeicherte Daten über { $name }
export-made = Stand: { $at }.
export-contents = - `conversations/`: jedes Gespräch als Markdown
    - `messages.jsonl`: jede Nachricht, ein JSON-Objekt pro Zeile; aus Gruppen nur deine eigenen
    - `summaries.jsonl`: was am Ende von Gesprächen aufgeschrieben wurde
    - `reflections/`: Rückblicke auf Tage, Wochen und Monate
    - `reminders.jsonl`: kommende Erinnerungen und Aufgaben
    - `settings.json`: Sprache und Zeitzone
    - `knowledge/`: die Dateien des Gedächtnisses, wie sie sind, und unter `inbox/`, was du geschickt hast
    - `experience/`: was der Assistent sonst über dich gelernt hat
write-refused = { $why ->
    [elsewhere] Der Pfad führt aus dem Ordner hinaus
    [foreign] Das wurde für jemand anderen geschrieben
    [owners-hand] Diese Datei ändert nur der Besitzer, von Hand
    [untrusted] Worte von außen kommen nicht in eine Datei, die von selbst gelesen wird
   *[not-text] Was dort steht, ist kein Text
}

message-forgotten = (vergessen)
message-gone = (weg: vom Absender gelöscht, oder die Zeit war um)
message-forgotten-on-request = (weg: auf Wunsch vergessen)
imported-from = importiert aus { $program }

## Descriptions of commands; the English ones stand in the table of commands

does-start = Den Assistenten begrüßen
does-help = Befehle auflisten
does-new = Neues Gespräch beginnen
does-stop = Antwort anhalten
does-yes = Frage mit Ja beantworten
does-no = Frage mit Nein beantworten
does-status = Zustand und Restbudget zeigen
does-usage = Verbrauch und Kosten zeigen
does-resend = Fehlgeschlagenes neu senden
does-memory = Gedächtnis zeigen, durchsuchen
does-remember = Text merken
does-promote = Notiz von außen vertrauen
does-trust = Gesendetem vertrauen
does-open = Offenes zeigen
does-reminders = Erinnerungen zeigen, streichen
does-forget = Notiz oder Tatsache löschen
does-why = Herkunft zeigen
does-conversations = Gespräche zeigen
does-export = Alle deine Daten exportieren
does-files = Dateien zeigen
does-file = Datei senden
does-settings = Sprache und Zeitzone ändern
does-whoami = Rolle und Adressen zeigen
does-web = Seite öffnen
does-link = Weitere Adresse verbinden
does-heartbeat = Prüfungen zeigen, ändern
does-pending = Zeigen, was auf dich wartet
does-show = Vorschlag ganz zeigen
does-approve = Vorschlag wie gezeigt annehmen
does-reject = Vorschlag endgültig ablehnen
does-skills = Skills zeigen, annehmen
does-history = Fassungen eines Skills zeigen
does-rollback = Frühere Fassung wiederherstellen
does-reflect = Auf einen Zeitraum zurückblicken
does-reflections = Rückblicke zeigen
does-search = Alles durchsuchen
does-model = Modelle zeigen, eines bevorzugen
does-people = Personen zeigen, verwalten
does-pair = Code für eine Person machen
does-remove = Zugang entziehen

## Hints after invalid arguments; the English ones stand in the table of commands

hint-new = schick deine Nachricht danach extra
hint-yes = mit der Nummer der Frage; 10 oder new erlaubt auch weitere Aufrufe eines fremden Werkzeugs, mit vary auch mit anderem Inhalt
hint-no = mit der Nummer der Frage
hint-memory = search nimmt auch --agent NAME, --section ÜBERSCHRIFT, --category WORT, --since und --until TAG, --case und --context ZEILEN; show NOTE VERSION zeigt eine Fassung, diff NOTE VERSION VERSION, was sich zwischen zweien geändert hat; profiles zeigt, was andere Agenten und Profile gelernt haben, profile NAME on|off schaltet es
hint-trust = NUMBER ist die Nummer aus der Liste; off nimmt alles zurück
hint-open = auch drop N für das, was nicht mehr gewünscht ist; later N WANN, ohne WANN morgen; undo N öffnet ein geschlossenes wieder, dreißig Tage lang; add TEXT
hint-reminders = um eine zu stellen, bitte mich in deinen eigenen Worten darum, ohne Befehl; later stellt eine, die schon kam, in einer Stunde noch einmal
hint-forget = NOTE ist ein Name, der Schlüssel einer Tatsache oder der ganze Wortlaut einer Zeile; die Antwort zeigt, was gelöscht wird, und den Code dafür; "messages" löscht auch die Nachrichten, aus denen es stammt; /forget WORTE messages löscht, was nur in Nachrichten steht
hint-conversations = KIND ist chats, reflections, heartbeats, tasks, imported oder all; before NUMMER zeigt ältere; die Nummer einer Nachricht nach der ihres Gesprächs zeigt die Stelle, an der sie steht
hint-files = FOLDER after NAME zeigt, was nach NAME kommt
hint-file = /files zeigt die Pfade
hint-heartbeat = add ist für etwas Einmaliges, always für etwas, das immer gilt; tidy nimmt heraus, was abgehakt ist
hint-show = /pending zeigt die Nummern
hint-approve = /pending zeigt die Nummern, und /show NUMMER den Hash
hint-reject = /pending zeigt die Nummern
hint-skills = show NAME [VERSION] zeigt einen Skill oder eine Fassung von ihm, diff NAME VERSION VERSION, was sich zwischen zweien geändert hat
hint-history = /skills zeigt die Namen
hint-rollback = /history NAME zeigt die Fassungen
hint-reflect = PERIOD ist etwas wie 2026-11-20, 2026-W47, 2026-11 oder today; "again" wiederholt einen Rückblick, den es schon gibt
hint-search = dazu kommen --in messages|conversations|reflections|notes|files|skills, --category WORT, --since und --until TAG, --case und --context ZEILEN
hint-pair = auf die Frage nach dem Namen /pair #N member same oder /pair #N member new

## The page

web-link = { $link } meldet einen Browser als { $name } an. Der Link gilt einmal und zwei Minuten lang; gib ihn niemandem.
web-only-on-the-computer = Die Seite öffnet sich nur auf dem Computer, auf dem ich laufe: Dort macht `compline web` einen Link.

## Files

files-all = Deine Dateien
files-none = Hier sind keine Dateien.
files-how = `{ $list }` öffnet einen Ordner, `{ $send }` sendet eine Datei.
files-none-such = Diese Datei oder diesen Ordner gibt es nicht. `{ $list }` zeigt sie.
file-too-large = Sie ist größer als { $most } MB, und mehr nimmt kein Chat an.
file-no-chat = Es gibt keinen Chat, in den ich eine Datei senden kann.
file-attached = Hier ist die Datei ({ $kib } KiB).
file-in-direct-chat = Die Datei kommt in deinen direkten Chat.

## Vorschläge in einer Liste

proposal-entry = - **{ $id }** { $what }: { $standing }, { $age } alt
proposal-waits = **{ $id }** { $what }: { $standing }
proposal-how = `{ $command }` zeigt einen davon und wie du entscheidest.
proposal-change = { $how ->
    [folder] den Skill { $skill } aus seinem Ordner verwenden
    [create] den Skill { $skill } hinzufügen
    [delete] den Skill { $skill } löschen
    [rename] den Skill { $skill } in { $name } umbenennen
   *[edit] den Skill { $skill } ändern
}
proposal-outside = Text von außen hatte daran teil ({ $sources })
proposal-no-act = tut von sich aus nichts
proposal-act = { $act ->
    [sends] sendet
    [secret] liest ein Geheimnis
    [deletes] löscht
    [access] ändert Zugriffe
    [overrides] setzt Regeln außer Kraft
    [obeys] gehorcht anderen Texten
    [copies] kopiert sich selbst
    [assumes] nimmt etwas anderes als Ja
    [runs] führt ein Programm aus
    [quiet] verschweigt etwas
    [money] gibt Geld aus
    [always] immer
    [standing] immer wieder
    [writes] schreibt Dateien
    [reads] liest Dateien
   *[tools] verwendet Werkzeuge
}
proposal-advice = Prüfer: { $advice ->
    [passed] nichts dagegen
    [refused] rät davon ab
    [skipped] ausgelassen
    [later] noch nicht gefragt
   *[none] kein Urteil
}
proposal-ended = { $state ->
    [approved] angenommen
    [rejected] abgelehnt
    [conflict] nicht angewandt, weil der Skill inzwischen geändert wurde
   *[expired] verfallen
}

## Bericht über einen Rückblick

report-head = **Rückblick auf { $job ->
    [weekly] die Woche ab { $day }
    [monthly] den Monat ab { $day }
   *[daily] { $day }
}: { $title }**
report-done = Erledigt
report-waits = Wartet auf dich
report-left-out = Ausgelassen
report-all = Alles davon
report-remembers = Ich merke mir ab jetzt: { $words }
report-kept-apart = Text von außen hatte daran teil, darum merke ich es mir nur, wenn du willst: { $words }
report-left = { $count } { $why ->
    [over_limit] mehr, als auf einmal oder an einem Tag übernommen werden
    [refused] von einer Prüfung abgelehnt
    [malformed] nicht in der richtigen Form
    [off] nur notiert, weil `auto_action` aus ist
   *[void] nicht angewandt, weil der Skill inzwischen geändert wurde
}
report-for-you = Für dich zu tun: { $title }
report-forget = „{ $title }“ vergessen
report-show = { $what } zeigen
report-history = Verlauf von { $name }
report-brief-offer = Wenn du magst, sage ich dir jeden Morgen, was der Tag bringt und was offen ist. Sag einfach: „Gib mir jeden Tag um 7 einen Überblick.“

## What is open

open-nothing = Nichts ist offen. Was wir besprechen und nicht fertig wird, kommt von selbst auf diese Liste; /open add TEXT setzt etwas darauf.
open-when = Diese Zeit verstehe ich nicht. Versuche „tomorrow“, „monday 09:00“ oder „2026-12-01“.
open-pasted = Diese Worte stehen in etwas, das von außen kam. Deshalb setze ich sie nicht von selbst auf deine Liste.
open-heading = Noch offen
open-later-heading = Später
open-closed-heading = Kürzlich geschlossen
open-reminders-heading = Erinnerungen und Aufgaben
open-heartbeat-heading = HEARTBEAT.md
open-how = /open done NUMMER schließt einen Punkt, /open drop NUMMER auch, wenn er nicht mehr gewünscht ist, /open later NUMMER verschiebt ihn, /open undo NUMMER öffnet ihn wieder.
open-item = - { $id } { $words } (seit { $since })
open-later-item = - { $id } { $words } (ab { $from })
open-closed-item = - { $id } { $words } ({ $how ->
    [dropped] gestrichen
   *[done] erledigt
}, { $at })
open-was-closed = Geschlossen: { $words } (/open undo { $id } öffnet es wieder.)
open-reopened = Wieder offen: { $words }
open-put-off = Verschoben: { $words } (ab { $from })
open-added = Auf deiner Liste: { $id } { $words }
open-known = Das steht schon auf deiner Liste: { $words }
open-unknown = Es gibt keinen offenen Punkt { $id }. /open zeigt die Nummern.
